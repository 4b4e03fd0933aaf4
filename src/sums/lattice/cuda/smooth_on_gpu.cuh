// The smooth part of a periodic sum on a GPU: smooth_part.h for points and sums there.
#pragma once

#include "sums/direct/cuda/pass_timer.cuh"
#include "sums/lattice/cuda/box_points.cuh"

#include <farfield/sum.h>

#include <functional>

namespace farfield::cuda {

class SmoothOnGpu {
public:
    SmoothOnGpu() = default;
    SmoothOnGpu(const SmoothOnGpu&) = delete;
    SmoothOnGpu& operator=(const SmoothOnGpu&) = delete;
    virtual ~SmoothOnGpu() = default;

    virtual void set_points(const BoxPoints& sources, const BoxTargets& targets, cudaStream_t stream) = 0;

    /// What is known of strengths.
    struct Strengths {
        const double* values = nullptr; ///< by rows, on the GPU
        double magnitude = 0.0;         ///< Σ |q|
        double largest = 0.0;           ///< of |q|
    };
    /// *Adds* to the sums of the targets by rows: the field, and the potential as w; each source to itself as
    /// well. Marks its passes. Asks `stop` between launches.
    virtual void add(const Strengths& strengths, bool with_field, Vec4<double>* sums, PassTimer& timer,
                     const std::function<void()>& stop, cudaStream_t stream) = 0;

    virtual void describe(LatticeReport& report, double scale) const = 0;
};

} // namespace farfield::cuda
