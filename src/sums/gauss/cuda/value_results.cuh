// What the kernels that take values from a grid have in common.
#pragma once

#include "sums/gauss/cuda/grid_lanes.cuh"

namespace farfield::cuda {

/// Where values go: each of a target times a power of two, to the caller's row.
template <class Real>
struct ValueResults {
    const std::int32_t* from;
    StrengthsOnGpu own;
    PowerOfTwo potential_factor, gradient_factor;
    double slope; ///< of gradients: 1/h
    double *potential, *gradient;
    int* not_finite;

    explicit ValueResults(const ValueTask<Real>& task)
        : from(task.from), own(task.own), potential_factor(task.potential_factor),
          gradient_factor(task.gradient_factor), slope(task.placing.inverse_spacing),
          potential(task.potential), gradient(task.gradient), not_finite(task.not_finite) {}

    /// Value `column` of target `i`, whose row is from[i]: 0 its potential, from 1 on its gradient.
    template <int D>
    __device__ void write(int i, std::int64_t row, int column, Real value) const {
        double out = 0.0, *to = nullptr;
        if (column == 0) {
            if (potential == nullptr) return;
            to = potential + row;
            const double other =
                own.numbers != nullptr ? static_cast<double>(strength_of<Real>(own, i)) : 0.0;
            out = potential_factor(static_cast<double>(value) - other);
        } else {
            if (gradient == nullptr) return;
            to = gradient + D * row + column - 1;
            out = gradient_factor(slope * static_cast<double>(value));
        }
        *to = out;
        if (!isfinite(out)) *not_finite = 1; // whoever writes, writes the same
    }
};

} // namespace farfield::cuda
