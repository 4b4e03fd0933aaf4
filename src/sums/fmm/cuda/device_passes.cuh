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
    /// are far closer than a leaf is wide @param shares_multipoles  of a share of a tree: `form`
    /// leaves out leaves that others form (TreeView::forms), whose multipoles come from elsewhere
    void prepare(const DeviceTree& tree, const PlainFar<Real>& far, bool mends, bool shares_multipoles,
                 cudaStream_t stream);

    /// Puts sources with their strengths into the order of the tree. @pre the tree does not place them itself
    void set_sources(DeviceTree& tree, const GivenSources& given, cudaStream_t stream);

    /// Without a name: passes begin on that stream.
    using Done = PassDone;

    /// Sums of what was set, in two steps, between which multipoles may be shared. Far and near field run
    /// side by side; this one queues the near field and P2M. @param outputs  of LoopOutputs
    void form(const DeviceTree& tree, double softening, int outputs, const PassSums<Real>& sums,
              const Done& done, cudaStream_t stream);
    /// The rest of the far field, with the same outputs, sums and stream, which waits for both fields.
    void finish(const DeviceTree& tree, int outputs, const PassSums<Real>& sums, const Done& done,
                cudaStream_t stream);
    /// Of all kinds of expansions.
    [[nodiscard]] std::vector<RowArray> multipoles();
    /// Where the far field runs, if there is one.
    [[nodiscard]] cudaStream_t far_stream() const { return far_stream_->get(); }
    /// What is queued there from now on waits until multipoles are formed, or the far field is whole.
    void hold_for_multipoles(cudaStream_t stream) const { formed_.hold(stream); }
    void hold_for_far_field(cudaStream_t stream) const { far_done_.hold(stream); }

    [[nodiscard]] bool has_far_field() const { return !harmonics_.is_empty() || !polynomials_.is_empty(); }

private:
    [[nodiscard]] const BlockRange* target_ranges(const DeviceTree& tree) const {
        return tree.view().self && !tree.is_share() ? source_ranges_.data() : target_ranges_.data();
    }
    void run_near(const DeviceTree& tree, double softening, int outputs, const PassSums<Real>& sums,
                  cudaStream_t stream);
    [[nodiscard]] LeafPoints<Real> leaf_points(const DeviceTree& tree) const {
        return {sources_.data(), tree.view().self ? sources_.data() : targets_.data(),
                has_dipoles_ ? dipoles_.data() : nullptr};
    }
    /// Calls queue(far_stream(), polynomial_stream()); if that fails, waits for what was queued.
    template <class Queue>
    void queue_far(const Queue& queue, cudaStream_t stream);
    /// Polynomials beside harmonics: short launches, too, which leave much of the GPU free.
    [[nodiscard]] cudaStream_t polynomial_stream() const {
        return polynomial_stream_ ? polynomial_stream_->get() : far_stream();
    }
    /// What is queued on `later` from now on waits for what is on `first`.
    void wait_for(cudaStream_t first, cudaStream_t later) {
        if (first == later) return;
        side_by_side_.record(first);
        side_by_side_.hold(later);
    }

    OneSidedDevicePlan plan_;
    DeviceArray<Vec4<Real>> sources_, targets_; ///< from the centres of their leaves
    DeviceArray<Vec4<Real>> near_dipoles_;
    DeviceArray<Vec4<double>> dipoles_;
    bool has_dipoles_ = false;
    bool mends_ = false, shares_multipoles_ = false;
    DeviceArray<std::uint8_t>
        read_leaves_; ///< where multipoles are shared: 1 for those whose points are read
    DeviceArray<Vec4<double>> centres_, target_centres_;
    DeviceArray<BlockRange> source_ranges_, target_ranges_;
    DeviceFar<Real> harmonics_, polynomials_;
    TreeTiles tiles_;
    std::optional<Stream> far_stream_; ///< many short launches, which go before the near field's blocks
    std::optional<Stream> polynomial_stream_; ///< where there are both
    Signal ready_, formed_, far_done_, side_by_side_;
};

} // namespace farfield::cuda
