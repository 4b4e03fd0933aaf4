// The sums of a simulation by a method that divides the bodies anew in each evaluation: the method's
// PreparedSum, on arrays of the simulation in place.
#pragma once

#include "backend/cuda/memory.h"
#include "backend/cuda/stream.h"
#include "sums/direct/cuda/several/engine.cuh"
#include "sums/method/method.h"

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace farfield::cuda {

/// Its sums carry the kernel's sign, and are in the units of the places and strengths.
class MethodEngine {
public:
    /// @param devices  in CUDA's numbers: places and sums are on the first
    /// @param output  potential or field
    /// @throws InvalidArgument for options that the method does not have on a GPU; DeviceError.
    MethodEngine(const SumOptions& options, const std::vector<int>& devices,
                 std::span<const double> strengths, Output output);

    /// One part, of which points and sums are null.
    [[nodiscard]] std::span<EnginePart<Point<double>>> parts() { return parts_; }

    template <class Work>
    void for_each_part(Work&& work) {
        check(cudaSetDevice(device_), "selecting a GPU");
        work(parts_[0]);
    }

    /// Sums for bodies at `places`, N×3 on the GPU, in a periodic box for the images of these in it. The host
    /// waits as often as the method does. If places coincide or are not finite, these and all later sums are
    /// no numbers. @throws DeviceError.
    void compute(const double* places);
    /// N potentials or N×3 fields on the GPU.
    [[nodiscard]] const double* sums() const { return sums_.data(); }
    /// Why the method refused places; empty if it did not.
    [[nodiscard]] const std::string& refusal() const { return refusal_; }
    void synchronize() const { stream_.synchronize(); }

    /// Goes on with other options, of the same method.
    void renew(const SumOptions& options);

private:
    std::vector<int> devices_;
    int device_, n_;
    Output output_;
    Stream stream_;
    std::array<double, 3> period_{};
    DeviceArray<double> strengths_, sums_, in_box_;
    std::array<EnginePart<Point<double>>, 1> parts_{};
    std::unique_ptr<PreparedSum> sum_;
    SumReport report_; ///< for its memory
    std::string refusal_;
};

} // namespace farfield::cuda
