#include "stencil/api/finite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace farfield {

// Adding up differences from itself keeps the loop free of branches: x − x is 0 for finite numbers alone.
bool all_finite(std::span<const double> values) {
    double sum = 0.0;
    for (const double value : values) sum += value - value;
    return sum == 0.0;
}

std::string place_of(const stencil::Model& model, int field, std::size_t cell) {
    const auto grid = model.fields[static_cast<std::size_t>(field)].grid;
    std::string text;
    auto rest = static_cast<std::int64_t>(cell);
    for (const auto& axis : model.grids[static_cast<std::size_t>(grid)].axes) {
        text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", "xyz"[axis.coordinate], rest % axis.cells);
        rest /= axis.cells;
    }
    return '(' + text + ')';
}

std::string first_bad_text(const stencil::Model& model, int field, std::span<const double> values) {
    const auto first =
        std::find_if(values.begin(), values.end(), [](double value) { return !std::isfinite(value); });
    const auto name = std::isnan(*first) ? "nan" : *first < 0 ? "-inf" : "inf";
    return fmt::format("{} in the cell {}", name,
                       place_of(model, field, static_cast<std::size_t>(first - values.begin())));
}

} // namespace farfield
