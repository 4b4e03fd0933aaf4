#include "dynamics/forces/compare.h"

#include "backend/comm/communicator_access.h"
#include "backend/threads/parallel.h"
#include "sums/select/verify.h"

#include <cmath>
#include <vector>

namespace farfield {
namespace {

// What makes accelerations of the fields of a sum.
std::vector<double> factors_of(const ForceOptions& force, const Bodies& bodies) {
    std::vector<double> out(bodies.mass.size(), force.G);
    if (force.kernel == Kernel::coulomb)
        for (std::size_t i = 0; i < out.size(); ++i) out[i] *= bodies.charge[i] / bodies.mass[i];
    return out;
}

double number(double error) { return std::isnan(error) ? HUGE_VAL : error; }

} // namespace

double ForceErrors::largest() const { return potential > acceleration ? potential : acceleration; }

ForceErrors compare_forces(const ForceOptions& force, const Bodies& bodies,
                           std::span<const double> acceleration, std::span<const double> potential,
                           const BodyRows& rows) {
    SumProblem problem;
    problem.kernel = &kernel_info(force.kernel);
    problem.outputs = problem.kernel->output_set();
    problem.sources = problem.targets = rows.all(bodies);
    problem.softening = force.softening;
    problem.period = force.period;
    problem.boundary = force.boundary;
    problem.background = force.background;
    problem.tolerance = force.tolerance;
    const auto factors = factors_of(force, bodies);
    std::vector<ComputedOutput> computed{{Output::field, acceleration, factors}};
    if (!potential.empty()) computed.push_back({Output::potential, potential});
    const auto errors =
        verify({.problem = &problem,
                .sources = bodies.position,
                .targets = {},
                .strengths = force.kernel == Kernel::coulomb ? bodies.charge : bodies.mass,
                .threads = thread_count(force.threads),
                .soon = true,
                .ranks = rows.ranks(),
                .sharing = rows.are_all() ? CommunicatorAccess::transport(force.communicator) : nullptr},
               computed);
    return {.acceleration = number(errors.front().relative),
            .potential = potential.empty() ? std::nan("") : number(errors.back().relative)};
}

} // namespace farfield
