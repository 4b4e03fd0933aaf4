#include "dynamics/forces/checks.h"

#include "base/spelling.h"
#include "dynamics/bodies/box.h"
#include "sums/kernels/kernel.h"
#include "sums/method/method.h"

#include <farfield/error.h>
#include <farfield/options.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace farfield {
namespace {

void check_kernel(const KernelInfo& kernel) {
    if (kernel.moves_bodies()) return;
    std::string able;
    for (const auto* other : kernels())
        if (other->moves_bodies()) able += (able.empty() ? "" : " or ") + spelled("kernel", other->name);
    throw InvalidArgument(
        fmt::format("{} gives no force on bodies in space; use {}", spelled("kernel", kernel.name), able));
}

void check_charges(const Bodies& bodies) {
    if (bodies.charge.empty())
        throw InvalidArgument(fmt::format(
            "{} was asked for, but the bodies have no charges: give them (column q of a CSV file, the 8th "
            "column of an .npy file) or use {}",
            spelled("kernel", "coulomb"), spelled("kernel", "gravity")));
    for (std::size_t i = 0; i < bodies.mass.size(); ++i)
        if (!(bodies.mass[i] > 0.0))
            throw InvalidArgument(
                fmt::format("body {} (row {}) has mass {}; with {} every mass must be > 0, because "
                            "acceleration is force over mass",
                            bodies.id[i], i, bodies.mass[i], spelled("kernel", "coulomb")));
}

// The first two bodies that share a place, by row; empty if none do.
std::optional<std::pair<std::size_t, std::size_t>> same_place(const std::vector<double>& position) {
    std::vector<std::size_t> rows(position.size() / 3);
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    const auto place = [&](std::size_t i) {
        return std::array{position[3 * i], position[3 * i + 1], position[3 * i + 2]};
    };
    std::sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
        return place(a) != place(b) ? place(a) < place(b) : a < b;
    });
    for (std::size_t k = 1; k < rows.size(); ++k)
        if (place(rows[k - 1]) == place(rows[k])) return std::pair{rows[k - 1], rows[k]};
    return std::nullopt;
}

// Methods that sum nothing but periodic boxes.
void check_method(const ForceOptions& options) {
    if (options.method == Method::automatic || is_periodic(options.period)) return;
    if (method_info(options.method).periodic)
        throw InvalidArgument(fmt::format("{} sums periodic boxes only; give {}, or use {}",
                                          spelled("method", name_of(options.method)), spelled("period"),
                                          spelled("method", name_of(Method::automatic))));
}

} // namespace

void check_force(const ForceOptions& options, const Bodies& bodies) {
    check_options(options);
    check_kernel(kernel_info(options.kernel));
    check_method(options);
    if (options.kernel == Kernel::coulomb) check_charges(bodies);
}

// Sums speak of rows; a simulation knows its bodies by id.
void check_places_differ(const Bodies& bodies, const std::vector<double>& position,
                         std::string_view softener) {
    const auto pair = same_place(position);
    if (!pair) return;
    const auto [a, b] = *pair;
    throw InvalidArgument(fmt::format("bodies {} and {} (rows {} and {}) are at the same place; use "
                                      "{} > 0, or a smaller time.step if they met on their way",
                                      bodies.id[a], bodies.id[b], a, b, spelled(softener)));
}

void check_finite(const Bodies& bodies, const std::vector<double>& values, const char* what,
                  const BodyRows& rows) {
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!std::isfinite(values[i]))
            throw InvalidArgument(
                fmt::format("the {} of body {} (row {}) is not finite ({}); bodies have come too "
                            "close or too fast: use a smaller time.step or a larger {}",
                            what, bodies.id[i / 3], rows.row(i / 3), values[i], spelled("softening")));
}

void refuse_not_finite(const Bodies& bodies, const std::vector<double>& position,
                       const std::vector<double>& acceleration) {
    check_finite(bodies, position, "position");
    check_places_differ(bodies, position);
    check_finite(bodies, acceleration, "acceleration");
    throw InvalidArgument(
        "an acceleration is not finite; bodies have come too close or too fast: use a smaller "
        "time.step or a larger " +
        spelled("softening"));
}

} // namespace farfield
