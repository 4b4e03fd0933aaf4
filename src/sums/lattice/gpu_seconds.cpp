#include "sums/lattice/gpu_seconds.h"

#include "sums/lattice/lattice_goal.h"

namespace farfield {

double lattice_seconds_on_gpu(const SumProblem& problem, double seconds, std::string_view gpu,
                              const CostTable& table) {
    const auto rate = [&](std::string_view pattern) { return cost_of_gpu(table, pattern, gpu); };
    const double each = rate("direct.gpu.MODEL.fixed_seconds") + seconds;
    if (problem.moves) return problem.executions * each; // bodies of a simulation stay there
    const double moved = 8.0 * (4.0 * static_cast<double>(problem.sources) +
                                (problem.self ? 4.0 : 7.0) * static_cast<double>(problem.targets));
    return rate("gpu.MODEL.start_seconds") +
           problem.executions * (moved / rate("gpu.MODEL.bytes_per_second") + each);
}

// Sources by cells, with two keys and two rows each and what sorting takes; starts of cells, of one source or
// more; a number a target.
double near_fields_bytes_on_gpu(const SumProblem& problem) {
    if (!LatticeGoal(problem).depends_on_points()) return 0.0;
    return static_cast<double>(problem.sources) * (32.0 + 24.0 + 4.0) +
           8.0 * static_cast<double>(problem.targets);
}

} // namespace farfield
