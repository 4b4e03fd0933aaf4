// All passes of a fast multipole sum over a tree on a GPU, queued on a stream.
#pragma once

#include "sums/direct/cuda/blocks/device_plan.cuh"
#include "sums/fmm/cuda/device_operators.cuh"
#include "sums/tree/cuda/device_tree.cuh"

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

namespace farfield::cuda {

/// Where sums go: one Σ q d/r³ and Σ q/r for each target, in the order of the tree.
template <class Real>
struct PassSums {
    Vec4<Real>* near = nullptr;
    Vec4<double>* far = nullptr;
};

template <class Real>
class DevicePasses {
public:
    /// Prepares for the tree as it is; `operators` null: there is no far field.
    void prepare(const DeviceTree& tree, std::shared_ptr<const PlainOperators<Real>> operators,
                 cudaStream_t stream);

    /// Strengths by the caller's numbers, which count times 2^exponent.
    void set_strengths(DeviceTree& tree, const double* strengths, int exponent, cudaStream_t stream);

    /// Sums of the strengths that were set. `done` is told when each pass is queued.
    void run(const DeviceTree& tree, double softening, int outputs, const PassSums<Real>& sums,
             const std::function<void(std::string_view)>& done, cudaStream_t stream);

    [[nodiscard]] bool has_far_field() const { return operators_.has_value(); }

private:
    /// Tiles of one pass over one level, or over all of them.
    struct Tiles {
        int first = 0, count = 0;
    };
    void make_tiles(const DeviceTree& tree, cudaStream_t stream);
    void translate_tiles(const DeviceTree& tree, Pass pass, const Tiles& tiles, cudaStream_t stream);
    void run_far(const DeviceTree& tree, bool with_field, Vec4<double>* far,
                 const std::function<void(std::string_view)>& done, cudaStream_t stream);

    std::optional<DeviceOperators<Real>> operators_;
    OneSidedDevicePlan plan_;
    GrowingArray<Vec4<Real>> sources_, targets_; ///< from the centres of their leaves
    GrowingArray<Vec4<double>> centres_, target_centres_;
    GrowingArray<BlockRange> source_ranges_, target_ranges_;
    GrowingArray<Real> multipoles_, locals_;
    GrowingArray<TargetTile> tiles_;
    std::vector<Tiles> up_, down_; ///< by level
    Tiles across_;
};

} // namespace farfield::cuda
