// Launches the tutorial rungs by name.
#include "sums/direct/cuda/ladder/atomics.cuh"
#include "sums/direct/cuda/ladder/ladder.cuh"
#include "sums/direct/cuda/ladder/tiled.cuh"
#include "sums/direct/cuda/launch.cuh"

#include <farfield/error.h>

#include <type_traits>

namespace farfield::cuda {

namespace {

template <class Real>
void upload_parameters(const LadderTask<Real>& task, cudaStream_t stream) {
    const Parameters<Real> values{task.arrays, task.sums, task.n, task.softening2};
    void* symbol = nullptr;
    if constexpr (std::is_same_v<Real, float>)
        check(cudaGetSymbolAddress(&symbol, parameters_float), "finding the constant memory");
    else
        check(cudaGetSymbolAddress(&symbol, parameters_double), "finding the constant memory");
    // pageable host memory: the values are copied before this returns
    check(cudaMemcpyAsync(symbol, &values, sizeof values, cudaMemcpyHostToDevice, stream),
          "setting parameters");
}

template <class Real, int outputs>
void launch_outputs(Rung rung, const LadderTask<Real>& task, cudaStream_t stream) {
    const int blocks = (task.n + block_size - 1) / block_size;
    switch (rung) {
    case Rung::one_thread:
        one_thread_kernel<Real, outputs>
            <<<1, 1, 0, stream>>>(task.bodies, task.sums, task.n, task.softening2);
        return;
    case Rung::naive:
        naive_kernel<Real, outputs>
            <<<blocks, block_size, 0, stream>>>(task.bodies, task.sums, task.n, task.softening2);
        return;
    case Rung::soa:
        soa_kernel<Real, outputs><<<blocks, block_size, 0, stream>>>(task.arrays.x, task.arrays.y,
                                                                     task.arrays.z, task.arrays.mass,
                                                                     task.sums, task.n, task.softening2);
        return;
    case Rung::register_tile:
    case Rung::symmetric:
    case Rung::tensor:
        throw InternalError("the rungs over packed points are not launched here");
    default:
        break;
    }
    upload_parameters(task, stream);
    const auto launch = [&](void (*kernel)()) { kernel<<<blocks, block_size, 0, stream>>>(); };
    switch (rung) {
    case Rung::constant:
        return launch(constant_kernel<Real, outputs>);
    case Rung::rsqrt:
        return launch(rsqrt_kernel<Real, outputs>);
    case Rung::two_loops:
        return launch(two_loops_kernel<Real, outputs>);
    case Rung::shared:
        return launch(tiled_kernel<Real, outputs, SharedRung>);
    case Rung::unrolled:
        return launch(tiled_kernel<Real, outputs, UnrolledRung>);
    case Rung::softened:
        return launch(tiled_kernel<Real, outputs, SoftenedRung>);
    case Rung::fma:
        return launch(tiled_kernel<Real, outputs, FmaRung>);
    case Rung::unrolled_128:
        return launch(tiled_kernel<Real, outputs, Unrolled128Rung>);
    case Rung::flush:
        return launch(tiled_kernel<Real, outputs, FlushRung>);
    default:
        break;
    }
    check(cudaMemsetAsync(task.sums, 0, task.n * sizeof(Vec4<Real>), stream), "clearing the sums");
    if (rung == Rung::atomics)
        launch(atomics_kernel<Real, outputs>);
    else
        launch(atomics_tiled_kernel<Real, outputs>);
}

} // namespace

template <class Real>
void launch_ladder(Rung rung, const LadderTask<Real>& task, cudaStream_t stream) {
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

template void launch_ladder(Rung, const LadderTask<float>&, cudaStream_t);
template void launch_ladder(Rung, const LadderTask<double>&, cudaStream_t);

} // namespace farfield::cuda
