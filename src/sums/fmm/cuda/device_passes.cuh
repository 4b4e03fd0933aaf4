// All passes of a fast multipole sum over a tree on a GPU, queued on a stream.
#pragma once

#include "sums/direct/cuda/blocks/device_plan.cuh"
#include "sums/direct/cuda/blocks/whole_sum.cuh"
#include "sums/fmm/cuda/device_far.cuh"
#include "sums/tree/cuda/device_tree.cuh"

#include <functional>
#include <optional>
#include <string_view>

namespace farfield::cuda {

/// Where sums go: one Σ q d/r³ and Σ q/r for each target, in the order of the tree, and if they are wanted
/// six second derivatives.
template <class Real>
struct PassSums {
    Vec4<Real>* near = nullptr;
    Vec4<double>* far = nullptr;
    double *near_hessians = nullptr, *far_hessians = nullptr;
};

/// Sources as the caller gave them, in double: N×3, N, and N×3 dipoles or null.
struct GivenSources {
    const double *points = nullptr, *strengths = nullptr, *dipoles = nullptr;
    Frame frame;
    int exponent = 0; ///< strengths count times 2^exponent, dipoles also times that of the frame
};

template <class Real>
class DevicePasses {
public:
    /// Prepares for the tree as it is; `far` may be empty. @param mends  floats lose no digits of pairs that
    /// are far closer than a leaf is wide
    void prepare(const DeviceTree& tree, const PlainFar<Real>& far, bool mends, cudaStream_t stream);

    /// Puts sources with their strengths into the order of the tree. @pre the tree does not place them itself
    void set_sources(DeviceTree& tree, const GivenSources& given, cudaStream_t stream);

    /// Without a name: passes begin on that stream.
    using Done = PassDone;

    /// Sums of what was set. @param outputs  of LoopOutputs. Far and near field run side by side; `stream`
    /// waits for both.
    void run(const DeviceTree& tree, double softening, int outputs, const PassSums<Real>& sums,
             const Done& done, cudaStream_t stream);

    [[nodiscard]] bool has_far_field() const { return !harmonics_.is_empty() || !polynomials_.is_empty(); }

private:
    /// Where the far field runs.
    [[nodiscard]] cudaStream_t far_stream() const { return far_stream_->get(); }

    [[nodiscard]] const BlockRange* target_ranges(const DeviceTree& tree) const {
        return tree.view().self && !tree.is_share() ? source_ranges_.data() : target_ranges_.data();
    }
    void run_near(const DeviceTree& tree, double softening, int outputs, const PassSums<Real>& sums,
                  cudaStream_t stream);
    void run_far(const DeviceTree& tree, int outputs, const PassSums<Real>& sums, const Done& done,
                 cudaStream_t stream);

    OneSidedDevicePlan plan_;
    DeviceArray<Vec4<Real>> sources_, targets_; ///< from the centres of their leaves
    DeviceArray<Vec4<Real>> near_dipoles_;
    DeviceArray<Vec4<double>> dipoles_;
    bool has_dipoles_ = false;
    bool mends_ = false;
    DeviceArray<Vec4<double>> centres_, target_centres_;
    DeviceArray<BlockRange> source_ranges_, target_ranges_;
    DeviceFar<Real> harmonics_, polynomials_;
    TreeTiles tiles_;
    std::optional<Stream> far_stream_; ///< many short launches, which go before the near field's blocks
    Signal ready_, far_done_;
};

} // namespace farfield::cuda
