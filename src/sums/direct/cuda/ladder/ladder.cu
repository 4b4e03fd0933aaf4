// Launches the rungs of the slides, and the first ones with atomics, by name.
#include "sums/direct/cuda/ladder/atomics.cuh"
#include "sums/direct/cuda/ladder/ladder.cuh"
#include "sums/direct/cuda/ladder/tiled.cuh"
#include "sums/direct/cuda/launch.cuh"

#include <farfield/error.h>

namespace farfield::cuda {

namespace {

template <class Real, int outputs>
void launch_with_arguments(Rung rung, const LadderTask<Real>& task, int blocks, cudaStream_t stream) {
    if (rung == Rung::one_thread)
        one_thread_kernel<Real, outputs>
            <<<1, 1, 0, stream>>>(task.bodies, task.sums, task.n, task.softening2);
    else if (rung == Rung::naive)
        naive_kernel<Real, outputs>
            <<<blocks, block_size, 0, stream>>>(task.bodies, task.sums, task.n, task.softening2);
    else
        soa_kernel<Real, outputs><<<blocks, block_size, 0, stream>>>(task.arrays.x, task.arrays.y,
                                                                     task.arrays.z, task.arrays.mass,
                                                                     task.sums, task.n, task.softening2);
}

using ConstantKernel = void (*)();

// Rungs without arguments and without tiles.
template <class Real, int outputs>
ConstantKernel constant_kernel_of(Rung rung) {
    switch (rung) {
    case Rung::constant:
        return constant_kernel<Real, outputs>;
    case Rung::rsqrt:
        return rsqrt_kernel<Real, outputs>;
    case Rung::two_loops:
        return two_loops_kernel<Real, outputs>;
    case Rung::atomics:
        return atomics_kernel<Real, outputs>;
    case Rung::atomics_tiled:
        return atomics_tiled_kernel<Real, outputs>;
    default:
        throw InternalError("this rung is not launched here");
    }
}

template <class Real, int outputs>
void launch_outputs(Rung rung, const LadderTask<Real>& task, cudaStream_t stream) {
    const int blocks = (task.n + block_size - 1) / block_size;
    if (rung <= Rung::soa) return launch_with_arguments<Real, outputs>(rung, task, blocks, stream);
    const auto kernel = constant_kernel_of<Real, outputs>(rung);
    set_parameters(task, stream);
    if (rung == Rung::atomics || rung == Rung::atomics_tiled)
        check(cudaMemsetAsync(task.sums, 0, task.n * sizeof(Vec4<Real>), stream), "clearing the sums");
    kernel<<<blocks, block_size, 0, stream>>>();
}

template <class Kernel>
const void* address_of(Kernel* kernel) {
    return reinterpret_cast<const void*>(kernel);
}

} // namespace

template <class Real>
void launch_ladder(Rung rung, const LadderTask<Real>& task, cudaStream_t stream) {
    switch (rung) {
    case Rung::shared:
        return launch_tiled<SharedRung>(task, stream);
    case Rung::unrolled:
        return launch_tiled<UnrolledRung>(task, stream);
    case Rung::softened:
        return launch_tiled<SoftenedRung>(task, stream);
    case Rung::fma:
        return launch_tiled<FmaRung>(task, stream);
    case Rung::unrolled_128:
        return launch_tiled<Unrolled128Rung>(task, stream);
    case Rung::flush:
        return launch_flush(task, stream);
    case Rung::fast_math:
        return launch_fast_math(task, stream);
    default:
        break;
    }
    switch (task.outputs) {
    case field_only:
        launch_outputs<Real, field_only>(rung, task, stream);
        break;
    case potential_only:
        launch_outputs<Real, potential_only>(rung, task, stream);
        break;
    default:
        launch_outputs<Real, field_and_potential>(rung, task, stream);
        break;
    }
    check_launch("launching a direct sum");
}

template <class Real>
RungKernel ladder_kernel(Rung rung) {
    switch (rung) {
    case Rung::one_thread:
        return {address_of(one_thread_kernel<Real, field_only>), 1};
    case Rung::naive:
        return {address_of(naive_kernel<Real, field_only>), block_size};
    case Rung::soa:
        return {address_of(soa_kernel<Real, field_only>), block_size};
    case Rung::shared:
        return tiled_kernel_of_field<SharedRung, Real>();
    case Rung::unrolled:
        return tiled_kernel_of_field<UnrolledRung, Real>();
    case Rung::softened:
        return tiled_kernel_of_field<SoftenedRung, Real>();
    case Rung::fma:
        return tiled_kernel_of_field<FmaRung, Real>();
    case Rung::unrolled_128:
        return tiled_kernel_of_field<Unrolled128Rung, Real>();
    case Rung::flush:
        return flush_kernel<Real>();
    case Rung::fast_math:
        return fast_math_kernel<Real>();
    default:
        return {address_of(constant_kernel_of<Real, field_only>(rung)), block_size};
    }
}

template void launch_ladder(Rung, const LadderTask<float>&, cudaStream_t);
template void launch_ladder(Rung, const LadderTask<double>&, cudaStream_t);
template RungKernel ladder_kernel<float>(Rung);
template RungKernel ladder_kernel<double>(Rung);

} // namespace farfield::cuda
