// How the sums of a tree's targets leave the GPU's frame: near and far field together, signed and scaled, by
// the caller's numbers.
#pragma once

#include "backend/cuda/vec4.h"
#include "sums/direct/cuda/layout.cuh"

#include <cstdint>

namespace farfield::cuda {

/// Rows [begin, end) of the order of the tree, or all others.
struct LeavingRows {
    std::int32_t begin = 0, end = 0;
    bool inside = false;
    [[nodiscard]] __device__ bool has(std::int32_t row) const {
        return (row >= begin && row < end) == inside;
    }
};

/// Sums in the order of the tree, on their way out.
template <class Real>
struct LeaveTask {
    const Vec4<Real>* near;
    const Vec4<double>* far;   ///< null: there is no far field
    const std::int32_t* where; ///< each of the caller's targets is in the tree
    FinishTask out;
    const double* near_hessians = nullptr; ///< six numbers each
    const double* far_hessians = nullptr;  ///< null: there is no far field
    double* hessian = nullptr;             ///< null: not wanted
    int hessian_exponent = 0;
    LeavingRows rows{}; ///< all
};

template <class Real>
__global__ void leave_kernel(const LeaveTask<Real> task) {
    const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (row >= task.out.n) return;
    const auto i = task.where[row];
    if (!task.rows.has(i)) return;
    const auto near = task.near[i];
    double sum[4] = {static_cast<double>(near.x), static_cast<double>(near.y), static_cast<double>(near.z),
                     static_cast<double>(near.w)};
    if (task.far != nullptr) {
        const auto far = task.far[i];
        sum[0] += far.x;
        sum[1] += far.y;
        sum[2] += far.z;
        sum[3] += far.w;
    }
    bool finite = true;
    if (task.out.potential != nullptr) {
        const double value = task.out.sign * scalbn(sum[3], task.out.potential_exponent);
        task.out.potential[row] = value;
        finite = isfinite(value);
    }
    if (task.out.field != nullptr)
        for (int k = 0; k < 3; ++k) {
            const double value = task.out.sign * scalbn(sum[k], task.out.field_exponent);
            task.out.field[3LL * row + k] = value;
            finite = finite && isfinite(value);
        }
    if (task.hessian != nullptr)
        for (int k = 0; k < 6; ++k) {
            double value = task.near_hessians[6LL * i + k];
            if (task.far_hessians != nullptr) value += task.far_hessians[6LL * i + k];
            value = task.out.sign * scalbn(value, task.hessian_exponent);
            task.hessian[6LL * row + k] = value;
            finite = finite && isfinite(value);
        }
    if (!finite) *task.out.not_finite = 1; // whoever writes, writes the same
}

} // namespace farfield::cuda
