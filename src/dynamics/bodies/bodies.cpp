// Checks of the particles that a caller or a file brings.
#include <farfield/error.h>
#include <farfield/simulation.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

namespace farfield {
namespace {

void check_length(std::string_view name, std::size_t length, std::size_t expected) {
    if (length != expected)
        throw InvalidArgument(
            fmt::format("bodies: {} has {} values, but {} are needed: one mass a body, three coordinates "
                        "of position and velocity each",
                        name, length, expected));
}

void check_finite(std::string_view name, const std::vector<double>& values, std::size_t columns) {
    constexpr std::string_view axes[] = {" x", " y", " z"};
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!std::isfinite(values[i]))
            throw InvalidArgument(fmt::format("bodies: row {}: {}{} is {}; every value must be finite",
                                              i / columns, name,
                                              columns == 3 ? axes[i % 3] : std::string_view(), values[i]));
}

void check_ids(const std::vector<std::uint64_t>& id) {
    std::vector<std::size_t> order(id.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return id[a] != id[b] ? id[a] < id[b] : a < b; });
    for (std::size_t k = 1; k < order.size(); ++k)
        if (id[order[k - 1]] == id[order[k]])
            throw InvalidArgument(
                fmt::format("bodies: rows {} and {} have the same id {}; ids must be unique", order[k - 1],
                            order[k], id[order[k]]));
}

} // namespace

void Bodies::validate() const {
    const auto n = mass.size();
    check_length("position", position.size(), 3 * n);
    check_length("velocity", velocity.size(), 3 * n);
    if (!charge.empty()) check_length("charge", charge.size(), n);
    check_length("id", id.size(), n);
    check_finite("position", position, 3);
    check_finite("velocity", velocity, 3);
    check_finite("mass", mass, 1);
    check_finite("charge", charge, 1);
    for (std::size_t i = 0; i < n; ++i)
        if (mass[i] < 0.0)
            throw InvalidArgument(
                fmt::format("bodies: row {}: mass is {}; masses must be 0 or more", i, mass[i]));
    check_ids(id);
}

} // namespace farfield
