// Points and strengths on their way into the loop over pairs of Gaussians, and sums on their way out.
#include "sums/direct/cuda/gauss/gauss_blocks.cuh"

#include "backend/cuda/check.h"

#include <cuda_runtime.h>

#include <algorithm>

namespace farfield::cuda {
namespace {

constexpr int pass_threads = 256;

unsigned pass_blocks(int count) { return static_cast<unsigned>((count + pass_threads - 1) / pass_threads); }

__device__ int row_number() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

template <class Real>
__global__ void set_gauss_coordinates_kernel(GaussRows rows, const __grid_constant__ GaussFrameOnGpu frame,
                                             bool with_low, Real* out) {
    const int i = row_number();
    if (i >= rows.count) return;
    const int d = rows.dimension;
    for (int k = 0; k < d; ++k) {
        const double x = (rows.coordinates[static_cast<std::int64_t>(d) * i + k] - frame.centre[k]) *
                         frame.factor * frame.scale;
        const auto high = static_cast<Real>(x);
        out[static_cast<std::int64_t>(k) * rows.count + i] = high;
        if (with_low)
            out[static_cast<std::int64_t>(d + k) * rows.count + i] =
                static_cast<Real>(x - static_cast<double>(high));
    }
}

template <class Real>
__global__ void set_gauss_strengths_kernel(const double* strengths, int count, int exponent, Real* out) {
    const int i = row_number();
    if (i < count) out[i] = static_cast<Real>(scalbn(strengths[i], exponent));
}

__global__ void finish_gauss_kernel(const GaussFinishTask task) {
    const int i = row_number();
    if (i >= task.targets) return;
    const auto sum = [&](int column) {
        double total = 0.0;
        for (int part = 0; part < task.parts; ++part)
            total += task.sums[(static_cast<std::int64_t>(part) * task.columns + column) * task.targets + i];
        return total;
    };
    bool finite = true;
    if (task.potential != nullptr) {
        const double value = scalbn(sum(0), task.potential_exponent);
        task.potential[i] = value;
        finite = isfinite(value);
    }
    for (int k = 0; k < task.dimension && task.gradient != nullptr; ++k) {
        const double value = scalbn(task.gradient_factor * sum(1 + k), task.gradient_exponent);
        task.gradient[static_cast<std::int64_t>(task.dimension) * i + k] = value;
        finite = finite && isfinite(value);
    }
    if (!finite) *task.not_finite = 1; // whoever writes, writes the same
}

} // namespace

template <class Real>
void set_gauss_coordinates(const GaussRows& rows, const GaussFrameOnGpu& frame, bool with_low, Real* out,
                           cudaStream_t stream) {
    if (rows.count == 0) return;
    set_gauss_coordinates_kernel<<<pass_blocks(rows.count), pass_threads, 0, stream>>>(rows, frame, with_low,
                                                                                       out);
    check_launch("setting points");
}
template void set_gauss_coordinates(const GaussRows&, const GaussFrameOnGpu&, bool, float*, cudaStream_t);
template void set_gauss_coordinates(const GaussRows&, const GaussFrameOnGpu&, bool, double*, cudaStream_t);

template <class Real>
void set_gauss_strengths(const double* strengths, int count, int exponent, Real* out, cudaStream_t stream) {
    if (count == 0) return;
    set_gauss_strengths_kernel<<<pass_blocks(count), pass_threads, 0, stream>>>(strengths, count, exponent,
                                                                                out);
    check_launch("setting strengths");
}
template void set_gauss_strengths(const double*, int, int, float*, cudaStream_t);
template void set_gauss_strengths(const double*, int, int, double*, cudaStream_t);

// As many as fill a large GPU several times, whatever the GPU is: the bits depend on them.
int gauss_parts(int targets, int sources) {
    constexpr int blocks_wanted = 2048, targets_of_a_block = 512, sources_of_a_part = 1024;
    const int blocks = std::max(1, (targets + targets_of_a_block - 1) / targets_of_a_block);
    return std::clamp(std::min(blocks_wanted / blocks, sources / sources_of_a_part), 1, 1024);
}

void finish_gauss_blocks(const GaussFinishTask& task, cudaStream_t stream) {
    if (task.targets == 0) return;
    finish_gauss_kernel<<<pass_blocks(task.targets), pass_threads, 0, stream>>>(task);
    check_launch("finishing sums");
}

} // namespace farfield::cuda
