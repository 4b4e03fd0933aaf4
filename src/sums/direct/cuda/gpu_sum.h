// The direct sum of a plan on one GPU or several, for callers that have no CUDA header: arrays of the host,
// or of the one GPU, in and out, any strides, in the same frame, with the same checks and repairs as
// DirectSum has on the CPU.
#pragma once

#include <farfield/sum.h>

#include <memory>
#include <vector>

namespace farfield::cuda {

class GpuSum {
public:
    /// `devices` in CUDA's numbers, at least one; several divide a sum of points on themselves.
    /// @throws BackendUnavailable without CUDA or such a GPU, InvalidArgument for a variant that does not
    /// apply.
    GpuSum(const SumOptions& options, const std::vector<int>& devices, bool self);
    GpuSum(GpuSum&&) noexcept;
    GpuSum& operator=(GpuSum&&) noexcept;
    ~GpuSum();

    /// Copies checked views (base/arrays.h) of N×3 sources and M×3 targets; targets that are the sources are
    /// absent.
    /// @throws InvalidArgument naming a row that is not finite, or for memory of another GPU; DeviceError.
    void set_points(const ConstArrayView& sources, const ConstArrayView& targets);

    /// Writes the outputs that are present, all of them checked views; returns when they are written. Fills
    /// the report's variant, device, seconds and skipped pairs. @throws as DirectSum::compute and
    /// DeviceError.
    void compute(const ConstArrayView& strengths, const SumOutputs& outputs, SumReport& report);

    /// What one GPU and several do differently.
    struct Impl {
        virtual ~Impl() = default;
        virtual void set_points(const ConstArrayView& sources, const ConstArrayView& targets) = 0;
        virtual void compute(const ConstArrayView& strengths, const SumOutputs& outputs,
                             SumReport& report) = 0;
    };

private:
    std::unique_ptr<Impl> impl_;
};

} // namespace farfield::cuda
