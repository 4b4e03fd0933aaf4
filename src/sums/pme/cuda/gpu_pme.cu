#include "sums/pme/gpu_pme.h"

#include "backend/comm/agree.h"
#include "backend/comm/communicator_access.h"
#include "backend/threads/parallel.h"
#include "sums/costs/cost_file.h"
#include "sums/lattice/cuda/lattice_on_gpu.cuh"
#include "sums/pme/cuda/mesh_on_gpu.cuh"

#include <optional>

namespace farfield::cuda {

std::unique_ptr<PreparedSum> make_gpu_pme(const SumProblem& problem, const SumOptions& options, int device) {
    const DeviceScope scope(device); // events are of the GPU that is current when they are made
    auto* const ranks = CommunicatorAccess::transport(options.communicator);
    comm::together(ranks, [] { MeshTransformOnGpu::require(); });
    const auto make = [problem, ranks, order = options.order, threads = thread_count(options.threads)](
                          double goal, cudaStream_t stream) -> std::optional<LatticeDesign> {
        // hosts may have cost tables of their own
        const auto choice = comm::from_rank(
            ranks, best_mesh(problem, order, goal, mesh_rates_on_gpu(cost_table_in_use().table, {})));
        if (choice.order == 0) return std::nullopt;
        LatticeDesign design{choice.splitting, choice.near, nullptr};
        comm::together(ranks, [&] {
            design.smooth = std::make_unique<MeshOnGpu>(PeriodicFrame(problem), choice, threads, stream);
        });
        return design;
    };
    return std::make_unique<LatticeOnGpu>(problem, options, device, make);
}

} // namespace farfield::cuda
