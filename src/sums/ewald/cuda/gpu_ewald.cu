#include "sums/ewald/gpu_ewald.h"

#include "backend/comm/agree.h"
#include "backend/comm/communicator_access.h"
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
    const auto make = [problem, threads = thread_count(options.threads),
                       ranks = CommunicatorAccess::transport(options.communicator)](
                          double goal, cudaStream_t stream) -> std::optional<LatticeDesign> {
        // hosts may have cost tables of their own
        const auto cutoffs = comm::from_rank(
            ranks, ewald_cutoffs(problem, goal, ewald_rates_on_gpu(cost_table_in_use().table, {})));
        LatticeDesign design{cutoffs.splitting, cutoffs.near, nullptr};
        comm::together(ranks, [&] {
            design.smooth = std::make_unique<WavesOnGpu>(PeriodicFrame(problem), cutoffs, threads, stream);
        });
        return design;
    };
    return std::make_unique<LatticeOnGpu>(problem, options, device, make);
}

} // namespace farfield::cuda
