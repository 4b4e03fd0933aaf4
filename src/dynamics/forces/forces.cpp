#include "dynamics/forces/forces.h"

#include "backend/comm/communicator_access.h"
#include "backend/simd/isa.h"
#include "dynamics/bodies/box.h"
#include "dynamics/forces/checks.h"
#include "sums/method/method.h"
#include "sums/plan_access.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <chrono>

namespace farfield {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

} // namespace

// Of periodic boxes plans see what bodies have after a step, coordinates in the box, also within steps: the
// forces at a place have the same bits again when a run goes on from there.
void Forces::set_points(std::optional<SumPlan>& plan, const std::vector<double>& position,
                        Precision precision) {
    const bool periodic = is_periodic(options_.period);
    if (periodic) {
        in_box_ = position;
        wrap(in_box_, options_.period);
    }
    const auto points = matrix_view(std::span<const double>(periodic ? in_box_ : position), 3);
    const auto update = [&] {
        if (!rows_.are_all()) SumPlanAccess::number_sources(*plan, rows_.rows());
        plan->update(points);
    };
    if (plan) return update();
    plan.emplace(points, sum_options_of(options_, settings_, precision));
    SumPlanAccess::leave_comparing_to_caller(*plan); // which compares accelerations, and more than once
    if (!rows_.are_first()) update();                // a plan takes numbers once it is there
}

const std::vector<double>& Forces::strengths(const Bodies& bodies) const {
    return options_.kernel == Kernel::coulomb ? bodies.charge : bodies.mass;
}

// Of all ranks' bodies, which come together where something is wrong.
void Forces::check_places(const Bodies& bodies, const std::vector<double>& position) const {
    if (rows_.are_all()) return check_places_differ(bodies, position);
    Bodies all;
    rows_.to_all(bodies.id, all.id, 1);
    rows_.to_all(position, all.position, 3);
    check_places_differ(all, all.position);
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
    const auto check = [&](const std::vector<double>& values, const char* what) {
        rows_.together([&] { check_finite(bodies, values, what, rows_); });
    };
    check(position, "position");
    out.resize(position.size());
    try {
        set_points(field_plan_, position, options_.precision);
        field_plan_->execute(std::span<const double>(strengths(bodies)),
                             {.potential = {}, .field = matrix_view(std::span<double>(out), 3)},
                             {.progress = {}, .stop_requested = stop_requested_});
    } catch (const InvalidArgument& error) {
        check_places(bodies, position);
        throw InvalidArgument(fmt::format("the accelerations cannot be computed: {} (row 0 is body {})",
                                          error.what(), rows_.first_id(bodies)));
    }
    scale(bodies, out);
    check(out, "acceleration");
    const auto& report = field_plan_->report();
    backend_ = {.device = DeviceKind::cpu,
                .isa = report.isa,
                .variant = report.direct.variant,
                .precision = options_.precision};
    pairs_ += static_cast<double>(report.direct.pairs);
    seconds_ += report.prepare_seconds + report.compute_seconds + report.finish_seconds;
}

void Forces::accelerations_and_jerks(const Bodies& bodies, const std::vector<double>& position,
                                     const std::vector<double>& velocity, std::vector<double>& acceleration,
                                     std::vector<double>& jerk) {
    const auto start = Clock::now();
    check_finite(bodies, position, "position");
    acceleration.resize(position.size());
    jerk.resize(position.size());
    method_info(settings_.method)
        .field_and_jerk({.kernel = options_.kernel,
                         .n = bodies.size(),
                         .points = position.data(),
                         .velocities = velocity.data(),
                         .strengths = strengths(bodies).data(),
                         .softening = options_.softening,
                         .threads = options_.threads,
                         .isa = options_.isa,
                         .field = acceleration.data(),
                         .jerk = jerk.data(),
                         .ranks = CommunicatorAccess::transport(options_.communicator),
                         .stop_requested = stop_requested_});
    scale(bodies, acceleration);
    scale(bodies, jerk);
    try {
        check_finite(bodies, acceleration, "acceleration");
        check_finite(bodies, jerk, "jerk");
    } catch (const InvalidArgument&) {
        check_places_differ(bodies, position);
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

CheckedEnergy Forces::energy(const Bodies& bodies, const std::vector<double>& acceleration) {
    auto& plan = options_.precision == Precision::float64 ? field_plan_ : potential_plan_;
    set_points(plan, bodies.position, Precision::float64);
    std::vector<double> potential(bodies.mass.size());
    const auto& s = strengths(bodies);
    plan->execute(std::span<const double>(s), {.potential = std::span<double>(potential), .field = {}},
                  {.progress = {}, .stop_requested = stop_requested_});
    CheckedEnergy out;
    if (options_.tolerance > 0.0) out.errors = compared(bodies, acceleration, potential);
    for (std::size_t i = 0; i < potential.size(); ++i) potential[i] *= s[i];
    out.potential_energy = 0.5 * options_.G * rows_.sum(potential);
    return out;
}

// Bodies go back to the ranks that had them first: what is found must not depend on how they were dealt
// since.
ForceErrors Forces::compared(const Bodies& bodies, const std::vector<double>& acceleration,
                             const std::vector<double>& potential) const {
    if (rows_.are_all()) return compare_forces(options_, bodies, acceleration, potential);
    auto rows = rows_;
    const BodyMoves moves(rows, rows_.first_homes(), BodyMoves::Order::rows);
    const auto moved = [&](std::vector<double> values, std::int64_t width) {
        moves.move(values, width);
        return values;
    };
    Bodies back;
    back.position = moved(bodies.position, 3);
    back.mass = moved(bodies.mass, 1);
    if (options_.kernel == Kernel::coulomb) back.charge = moved(bodies.charge, 1);
    return compare_forces(options_, back, moved(acceleration, 3), moved(potential, 1), rows);
}

Homes Forces::homes() const { return field_plan_ ? SumPlanAccess::homes(*field_plan_) : Homes(); }

void Forces::renew() {
    field_plan_.reset();
    potential_plan_.reset();
}

} // namespace farfield
