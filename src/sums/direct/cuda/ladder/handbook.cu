// Launches the CUDA Handbook's kernels.
#include "sums/direct/cuda/ladder/handbook.cuh"

#include "sums/direct/cuda/ladder/kernels.cuh"
#include "sums/direct/cuda/launch.cuh"
#include "sums/direct/cuda/self_pair.h"

#include <farfield/error.h>

namespace farfield::cuda {

namespace {

using AtomicsKernel = void (*)(const Point<float>*, float*, int, float);

AtomicsKernel atomics_of(Rung rung) {
    return rung == Rung::atomics_index ? handbook_atomics_kernel<true> : handbook_atomics_kernel<false>;
}

} // namespace

void launch_handbook(Rung rung, const PointTask<Point<float>>& task, Workspace& workspace,
                     cudaStream_t stream) {
    const int n = task.n_sources, blocks = (n + block_size - 1) / block_size;
    if (task.outputs != field_only) throw InternalError("the Handbook's kernels compute the field alone");
    if (rung == Rung::float4) {
        const auto kernel =
            self_pair_is_zero(task.softening2, task.outputs) ? float4_kernel<false> : float4_kernel<true>;
        kernel<<<blocks, block_size, 0, stream>>>(task.sources, task.sums, n, task.softening2);
    } else {
        const auto bytes = 3 * static_cast<std::size_t>(n) * sizeof(float);
        auto* force = static_cast<float*>(workspace.reserve(bytes));
        check(cudaMemsetAsync(force, 0, bytes, stream), "clearing the sums");
        atomics_of(rung)<<<blocks, block_size, 0, stream>>>(task.sources, force, n, task.softening2);
        gather_forces_kernel<<<blocks, block_size, 0, stream>>>(force, task.sums, n);
    }
    check_launch("launching a direct sum of the Handbook");
}

RungKernel handbook_kernel(Rung rung) {
    return {rung == Rung::float4 ? reinterpret_cast<const void*>(&float4_kernel<false>)
                                 : reinterpret_cast<const void*>(atomics_of(rung)),
            block_size};
}

} // namespace farfield::cuda
