#include "sums/ewald/gpu_ewald.h"

#include "backend/threads/parallel.h"
#include "sums/costs/cost_file.h"
#include "sums/ewald/cuda/waves_on_gpu.cuh"
#include "sums/ewald/ewald_sum.h"
#include "sums/lattice/cuda/lattice_on_gpu.cuh"

#include <optional>

namespace farfield::cuda {

std::unique_ptr<PreparedSum> make_gpu_ewald(const SumProblem& problem, const SumOptions& options,
                                            int device) {
    const DeviceScope scope(device); // events are of the GPU that is current when they are made
    const auto make = [problem, threads = thread_count(options.threads)](
                          double goal, cudaStream_t stream) -> std::optional<LatticeDesign> {
        const auto cutoffs = ewald_cutoffs(problem, goal, ewald_rates_on_gpu(cost_table_in_use().table, {}));
        return LatticeDesign{cutoffs.splitting, cutoffs.near,
                             std::make_unique<WavesOnGpu>(PeriodicFrame(problem), cutoffs, threads, stream)};
    };
    return std::make_unique<LatticeOnGpu>(problem, options, device, make);
}

} // namespace farfield::cuda
