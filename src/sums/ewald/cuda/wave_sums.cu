// Sums of waves at targets: a block for each group of targets and each part of the rows. Coefficients of some
// rows lie in shared memory; a thread has a few targets.
#include "backend/cuda/check.h"
#include "sums/ewald/cuda/wave_task.cuh"
#include "sums/tree/cuda/launch.cuh"

#include <algorithm>
#include <cstddef>

namespace farfield::cuda {
namespace {

constexpr int targets = targets_of_a_thread;

/// Rows whose coefficients are in shared memory together.
int rows_of_a_group(const PhasesOfBatch& phases) {
    constexpr int coefficients = 512, most_rows = 32;
    return std::clamp(coefficients / (phases.last[0] + 1), 1, most_rows);
}

template <bool with_field>
__global__ void __launch_bounds__(sum_threads)
    sum_kernel(const __grid_constant__ WaveSumTask task, int group_rows) {
    extern __shared__ Phase coefficients[];
    const auto& phases = task.phases;
    const int thread = static_cast<int>(threadIdx.x);
    int point[targets];
    Phase t[targets];
    WaveSum<with_field> sums[targets];
#pragma unroll
    for (int k = 0; k < targets; ++k) {
        point[k] = static_cast<int>(blockIdx.x) * targets_of_a_block + k * sum_threads + thread;
        const int there = min(point[k], phases.count - 1);
        t[k] = phases.at[static_cast<std::int64_t>(phases.first[0] + 1) * phases.pitch + there];
    }
    const auto phase_of = [&](int axis, int n, int k) {
        const int there = min(point[k], phases.count - 1);
        const Phase found =
            phases
                .at[static_cast<std::int64_t>(phases.first[axis] + (n < 0 ? -n : n)) * phases.pitch + there];
        return Phase{found.re, n < 0 ? -found.im : found.im};
    };
    const int end = task.first_rows[blockIdx.y + 1];
    for (int first = task.first_rows[blockIdx.y]; first < end; first += group_rows) {
        const int last = min(first + group_rows, end) - 1;
        const auto begin = task.rows[first].first;
        const auto count = static_cast<int>(task.rows[last].first + task.rows[last].last_x + 1 - begin);
        __syncthreads();
        for (int i = thread; i < count; i += sum_threads) coefficients[i] = task.coefficients[begin + i];
        __syncthreads();
        for (int r = first; r <= last; ++r) {
            const auto row = task.rows[r];
            const Phase* const c = coefficients + (row.first - begin);
            RowSum<with_field> along[targets];
#pragma unroll 4
            for (int x = row.last_x; x >= 0; --x) {
                const Phase one = c[x];
#pragma unroll
                for (int k = 0; k < targets; ++k) along[k].add(one, t[k]);
            }
#pragma unroll
            for (int k = 0; k < targets; ++k)
                sums[k].add(along[k], t[k], product(phase_of(1, row.y, k), phase_of(2, row.z, k)),
                            task.unit[0], task.unit[1] * row.y, task.unit[2] * row.z);
        }
    }
#pragma unroll
    for (int k = 0; k < targets; ++k)
        if (point[k] < phases.count)
            task.partial[static_cast<std::int64_t>(blockIdx.y) * phases.pitch + point[k]] = {
                sums[k].field[0], sums[k].field[1], sums[k].field[2], sums[k].potential};
}

__global__ void add_parts_kernel(const Vec4<double>* partial, int parts, int pitch, int count,
                                 Vec4<double>* sums) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    Vec4<double> sum{0.0, 0.0, 0.0, 0.0};
    for (int part = 0; part < parts; ++part) {
        const auto one = partial[static_cast<std::int64_t>(part) * pitch + i];
        sum = {sum.x + one.x, sum.y + one.y, sum.z + one.z, sum.w + one.w};
    }
    auto& to = sums[i];
    to = {to.x + sum.x, to.y + sum.y, to.z + sum.z, to.w + sum.w};
}

template <bool with_field>
void launch_sums(const WaveSumTask& task, cudaStream_t stream) {
    const int group = rows_of_a_group(task.phases);
    const auto bytes =
        static_cast<std::size_t>(group) * static_cast<std::size_t>(task.phases.last[0] + 1) * sizeof(Phase);
    const auto kernel = sum_kernel<with_field>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
          "sums of waves");
    const dim3 blocks(
        static_cast<unsigned>((task.phases.count + targets_of_a_block - 1) / targets_of_a_block),
        static_cast<unsigned>(task.parts));
    kernel<<<blocks, sum_threads, bytes, stream>>>(task, group);
    check_launch("sums of waves");
}

} // namespace

void add_waves(const WaveSumTask& task, bool with_field, cudaStream_t stream) {
    if (with_field)
        launch_sums<true>(task, stream);
    else
        launch_sums<false>(task, stream);
    launch_over(task.phases.count, stream, add_parts_kernel, task.partial, task.parts, task.phases.pitch,
                task.phases.count, task.sums);
}

} // namespace farfield::cuda
