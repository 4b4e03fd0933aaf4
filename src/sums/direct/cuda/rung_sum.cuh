// One rung of one precision with the buffers it needs: points in double come in, sums in double go out. All
// work is queued on a stream; what is pointed to is memory of the current GPU.
#pragma once

#include "sums/direct/cuda/layout.cuh"

#include <memory>

namespace farfield::cuda {

/// Points as `pack_kernel` takes them; targets.points is null where targets are the sources.
struct RungInput {
    PackTask sources{};
    PackTask targets{};
    int all_targets = 0; ///< where other GPUs have more of the targets: of all of them
};

class RungSum {
public:
    virtual ~RungSum() = default;
    /// Rounds the points into the rung's layout. @throws DeviceError where the GPU's memory is full.
    virtual void pack(const RungInput& input, cudaStream_t stream) = 0;
    /// Instead of `pack`, for sums over n points that are packed on the GPU already: room for them, of the
    /// point type of the precision, which stays where it is.
    virtual void* reserve_packed(int n) = 0;
    /// Brings those points into the rung's layout, where that is another.
    virtual void lay_out_packed(cudaStream_t stream) = 0;
    /// n sums of the last `launch`, Vec4 of the precision's numbers, before signs and scales.
    [[nodiscard]] virtual const void* sums() const = 0;
    /// The sum itself; `softening` in the frame of the points, `outputs` of pair.cuh.
    virtual void launch(double softening, int outputs, cudaStream_t stream) = 0;
    /// Signs and scales the sums of the last `launch`; sets task.n by itself.
    virtual void finish(FinishTask task, cudaStream_t stream) const = 0;
};

/// @throws InvalidArgument for a rung without this precision.
std::unique_ptr<RungSum> make_rung_sum(Rung rung, Precision precision);

inline unsigned layout_blocks(long long n) {
    return static_cast<unsigned>((n + layout_threads - 1) / layout_threads);
}

} // namespace farfield::cuda
