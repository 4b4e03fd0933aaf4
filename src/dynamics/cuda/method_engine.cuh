// The sums of a simulation by a method that divides the bodies anew in each evaluation, on one GPU:
// SumEngine's interface over the method's PreparedSum. It reads the points and writes the sums in place, by
// strides.
#pragma once

#include "backend/cuda/memory.h"
#include "backend/cuda/stream.h"
#include "sums/direct/cuda/several/engine.cuh"
#include "sums/method/method.h"

#include <array>
#include <memory>
#include <span>

namespace farfield::cuda {

/// The sums carry the kernel's sign, and are in the units of the points and their strengths.
class MethodEngine {
public:
    /// @param output  potential or field; the other components of a sum are 0
    /// @throws InvalidArgument for options that the method does not have on a GPU; DeviceError.
    MethodEngine(const SumOptions& options, int device, int n, Output output);

    [[nodiscard]] std::span<EnginePart<Point<double>>> parts() { return parts_; }

    template <class Work>
    void for_each_part(Work&& work) {
        check(cudaSetDevice(device_), "selecting a GPU");
        work(parts_[0]);
    }

    /// Sums for the points and strengths as they are then. The host waits as often as the method does. If
    /// points coincide or are not finite, this and all later sums are no numbers. @throws DeviceError.
    void compute();
    void synchronize() const { stream_.synchronize(); }

    /// Goes on with other options, of the same method.
    void renew(const SumOptions& options);

private:
    int device_, n_;
    Output output_;
    Stream stream_;
    DeviceArray<Point<double>> points_;
    DeviceArray<Vec4<double>> sums_;
    std::array<EnginePart<Point<double>>, 1> parts_{};
    std::unique_ptr<PreparedSum> sum_;
    SumReport report_; ///< for its memory
    bool refused_ = false;
};

} // namespace farfield::cuda
