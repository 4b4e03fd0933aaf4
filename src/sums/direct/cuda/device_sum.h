// A direct sum on one GPU, for callers that have no CUDA header: host arrays in, host arrays out.
#pragma once

#include "sums/direct/cuda/rungs.h"

#include <farfield/sum.h>

#include <memory>
#include <span>

namespace farfield::cuda {

struct DeviceSumOptions {
    int device = 0;
    Rung rung = Rung::symmetric;
    Kernel kernel = Kernel::gravity;
    Precision precision = Precision::float64;
    double softening = 0.0;
    bool potential = true;
    bool field = true;
};

/// Points that live on a GPU, summed as often as wanted. Each object has a stream of its own: those that
/// several threads drive overlap, and their copies as well where the host's arrays are pinned
/// (host_buffer.h). Inputs are rounded to the precision (with `mixed`, points keep float hi+lo pairs,
/// relative to the origin given). Coordinates are to be below 1e17 in magnitude, and in float (r²)^(-3/2)
/// must not overflow: bring far-off or tiny data near 1 first.
class DeviceSum {
public:
    /// @throws BackendUnavailable without CUDA or such a device; InvalidArgument for a rung that does not
    /// compute
    ///         this precision.
    explicit DeviceSum(const DeviceSumOptions& options);
    DeviceSum(DeviceSum&&) noexcept;
    DeviceSum& operator=(DeviceSum&&) noexcept;
    ~DeviceSum();

    /// Targets are the sources. `points` N×3, `strengths` N.
    /// @throws DeviceError, e.g. where the GPU's memory is full; InvalidArgument for N ≥ 2³¹ − 2²⁰.
    void set_points(std::span<const double> points, std::span<const double> strengths);
    /// Separate targets, M×3. @throws also InvalidArgument for rungs that have targets = sources.
    void set_points(std::span<const double> points, std::span<const double> strengths,
                    std::span<const double> targets);

    /// Computes the sums and returns the milliseconds the GPU took, by events around the kernels.
    double run();

    /// Copies the sums of the last `run` out, with the signs of sum.h; empty spans are left out.
    void fetch(std::span<double> potential, std::span<double> field) const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace farfield::cuda
