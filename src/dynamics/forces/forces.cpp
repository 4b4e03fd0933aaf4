#include "dynamics/forces/forces.h"

#include "backend/simd/isa.h"
#include "dynamics/bodies/reductions.h"
#include "sums/direct/jerk.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

namespace farfield {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

void check_options(const ForceOptions& options) {
    if (!(options.G > 0.0) || !std::isfinite(options.G))
        throw InvalidArgument(fmt::format("force.G is {}; it must be a finite number > 0", options.G));
    if (!(options.softening >= 0.0) || !std::isfinite(options.softening))
        throw InvalidArgument(fmt::format(
            "force.softening is {}; it must be a finite length ≥ 0 (0 switches it off)", options.softening));
    if (options.threads < 0)
        throw InvalidArgument(fmt::format(
            "threads is {}; it must be 1 or more, or 0 for as many as OpenMP would use", options.threads));
}

void check_charges(const Bodies& bodies) {
    if (bodies.charge.empty())
        throw InvalidArgument(
            "force.kernel is coulomb, but the bodies have no charges: give them (column q of a "
            "CSV file, the 8th column of an .npy file) or use kernel = \"gravity\"");
    for (std::size_t i = 0; i < bodies.mass.size(); ++i)
        if (!(bodies.mass[i] > 0.0))
            throw InvalidArgument(
                fmt::format("body {} (row {}) has mass {}; with kernel = \"coulomb\" every mass "
                            "must be > 0, because acceleration is force over mass",
                            bodies.id[i], i, bodies.mass[i]));
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

// Sums speak of rows; a simulation knows its bodies by id.
void refuse_same_place(const Bodies& bodies, const std::vector<double>& position) {
    const auto pair = same_place(position);
    if (!pair) return;
    const auto [a, b] = *pair;
    throw InvalidArgument(fmt::format("bodies {} and {} (rows {} and {}) are at the same place; use a "
                                      "force.softening > 0, or a smaller time.step if they met on their way",
                                      bodies.id[a], bodies.id[b], a, b));
}

} // namespace

Forces::Forces(const ForceOptions& options, const Bodies& bodies) : options_(options) {
    check_options(options);
    if (options.kernel == Kernel::coulomb) check_charges(bodies);
}

SumOptions Forces::sum_options(Precision precision) const {
    return {.kernel = options_.kernel,
            .method = options_.method,
            .softening = options_.softening,
            .precision = precision,
            .threads = options_.threads,
            .isa = options_.isa,
            .device = {.kind = DeviceKind::cpu}};
}

const std::vector<double>& Forces::strengths(const Bodies& bodies) const {
    return options_.kernel == Kernel::coulomb ? bodies.charge : bodies.mass;
}

void Forces::check_finite(const Bodies& bodies, const std::vector<double>& values, const char* what) {
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!std::isfinite(values[i]))
            throw InvalidArgument(
                fmt::format("the {} of body {} (row {}) is not finite ({}); bodies have come too "
                            "close or too fast: use a smaller time.step or a larger "
                            "force.softening",
                            what, bodies.id[i / 3], i / 3, values[i]));
}

void Forces::refuse(const Bodies& bodies, const std::vector<double>& position,
                    const std::vector<double>& acceleration) {
    check_finite(bodies, position, "position");
    refuse_same_place(bodies, position);
    check_finite(bodies, acceleration, "acceleration");
    throw InvalidArgument(
        "an acceleration is not finite; bodies have come too close or too fast: use a smaller "
        "time.step or a larger force.softening");
}

// Field (per unit mass or charge, G = 1) to acceleration.
void Forces::scale(const Bodies& bodies, std::vector<double>& field) const {
    if (options_.kernel == Kernel::gravity) {
        if (options_.G != 1.0)
            for (double& value : field) value *= options_.G;
        return;
    }
    for (std::size_t i = 0; i < bodies.mass.size(); ++i) {
        const double factor = options_.G * bodies.charge[i] / bodies.mass[i];
        for (std::size_t k = 0; k < 3; ++k) field[3 * i + k] *= factor;
    }
}

void Forces::accelerations(const Bodies& bodies, const std::vector<double>& position,
                           std::vector<double>& out) {
    const auto start = Clock::now();
    check_finite(bodies, position, "position");
    const auto points = matrix_view(std::span<const double>(position), 3);
    out.resize(position.size());
    try {
        if (field_plan_)
            field_plan_->update(points);
        else
            field_plan_.emplace(points, sum_options(options_.precision));
        field_plan_->execute(std::span<const double>(strengths(bodies)),
                             {.potential = {}, .field = matrix_view(std::span<double>(out), 3)});
    } catch (const InvalidArgument& error) {
        refuse_same_place(bodies, position);
        throw InvalidArgument(fmt::format("the accelerations cannot be computed: {} (row 0 is body {})",
                                          error.what(), bodies.id[0]));
    }
    scale(bodies, out);
    check_finite(bodies, out, "acceleration");
    const auto& report = field_plan_->report();
    backend_ = {.device = DeviceKind::cpu,
                .isa = report.isa,
                .variant = report.variant,
                .precision = options_.precision};
    pairs_ += static_cast<double>(report.pairs);
    seconds_ += seconds_since(start);
}

void Forces::accelerations_and_jerks(const Bodies& bodies, const std::vector<double>& position,
                                     const std::vector<double>& velocity, std::vector<double>& acceleration,
                                     std::vector<double>& jerk) {
    const auto start = Clock::now();
    check_finite(bodies, position, "position");
    acceleration.resize(position.size());
    jerk.resize(position.size());
    direct_field_and_jerk({.kernel = options_.kernel,
                           .n = bodies.size(),
                           .points = position.data(),
                           .velocities = velocity.data(),
                           .strengths = strengths(bodies).data(),
                           .softening = options_.softening,
                           .threads = options_.threads,
                           .isa = options_.isa,
                           .field = acceleration.data(),
                           .jerk = jerk.data()});
    scale(bodies, acceleration);
    scale(bodies, jerk);
    try {
        check_finite(bodies, acceleration, "acceleration");
        check_finite(bodies, jerk, "jerk");
    } catch (const InvalidArgument&) {
        refuse_same_place(bodies, position);
        throw;
    }
    backend_ = {.device = DeviceKind::cpu,
                .isa = resolve_isa(options_.isa),
                .variant = Variant::automatic,
                .precision = Precision::float64};
    const auto n = static_cast<double>(bodies.size());
    pairs_ += n * (n - 1.0);
    seconds_ += seconds_since(start);
}

double Forces::potential_energy(const Bodies& bodies) {
    auto& plan = options_.precision == Precision::float64 ? field_plan_ : potential_plan_;
    const auto points = matrix_view(std::span<const double>(bodies.position), 3);
    if (plan)
        plan->update(points);
    else
        plan.emplace(points, sum_options(Precision::float64));
    std::vector<double> potential(bodies.mass.size());
    const auto& s = strengths(bodies);
    plan->execute(std::span<const double>(s), {.potential = std::span<double>(potential), .field = {}});
    const double sum = pairwise_sum(0, bodies.size(), [&](std::int64_t i) {
        return s[static_cast<std::size_t>(i)] * potential[static_cast<std::size_t>(i)];
    });
    return 0.5 * options_.G * sum;
}

} // namespace farfield
