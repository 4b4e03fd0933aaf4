// Adds the partial sums of a point in the order of their slots, in double: the last step of the register-tile
// rung, which cuts the sources into chunks. Fixed order, so fixed bits.
#pragma once

#include "sums/direct/cuda/pair.cuh"

namespace farfield::cuda {

/// partials[slot·stride + i] for slot < slots.
template <class Real>
struct CombineTask {
    const Vec4<Real>* partials;
    long long stride;
    int slots;
    int n;
    Vec4<Real>* sums;
};

template <class Real>
__global__ void combine_kernel(const CombineTask<Real> task) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= task.n) return;
    Vec4<double> total{0, 0, 0, 0};
#pragma unroll 8
    for (int slot = 0; slot < task.slots; ++slot) {
        const Vec4<Real> part = task.partials[slot * task.stride + i];
        total.x += part.x;
        total.y += part.y;
        total.z += part.z;
        total.w += part.w;
    }
    task.sums[i] = {static_cast<Real>(total.x), static_cast<Real>(total.y), static_cast<Real>(total.z),
                    static_cast<Real>(total.w)};
}

} // namespace farfield::cuda
