#include "sums/lattice/gpu_seconds.h"

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

} // namespace farfield
