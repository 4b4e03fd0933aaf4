// All passes of a fast multipole sum over a tree on a GPU, queued on a stream.
#pragma once

#include "sums/direct/cuda/blocks/device_plan.cuh"
#include "sums/fmm/cuda/device_operators.cuh"
#include "sums/fmm/cuda/tensor_translate.cuh"
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

    /// Is told when a pass is queued, and on which stream; without a name: passes begin there.
    using Done = std::function<void(std::string_view, cudaStream_t)>;

    /// Sums of the strengths that were set. Far and near field run side by side; `stream` waits for both.
    void run(const DeviceTree& tree, double softening, int outputs, const PassSums<Real>& sums,
             const Done& done, cudaStream_t stream);

    [[nodiscard]] bool has_far_field() const { return operators_.has_value(); }

private:
    /// Where the far field runs.
    [[nodiscard]] cudaStream_t far_stream() const { return far_stream_->get(); }

    /// Tiles of one pass over one level, or over all of them.
    struct Tiles {
        int first = 0, count = 0;
    };
    void make_tiles(const DeviceTree& tree, cudaStream_t stream);
    void translate_tiles(const DeviceTree& tree, Pass pass, const Tiles& tiles, cudaStream_t stream);
    void run_near(const DeviceTree& tree, double softening, int outputs, Vec4<Real>* near,
                  cudaStream_t stream);
    void run_far(const DeviceTree& tree, bool with_field, Vec4<double>* far, const Done& done,
                 cudaStream_t stream);

    std::optional<DeviceOperators<Real>> operators_;
    std::optional<TensorTranslation> tensor_; ///< takes all levels but the coarsest, where it can
    OneSidedDevicePlan plan_;
    DeviceArray<Vec4<Real>> sources_, targets_; ///< from the centres of their leaves
    DeviceArray<Vec4<double>> centres_, target_centres_;
    DeviceArray<BlockRange> source_ranges_, target_ranges_;
    DeviceArray<Real> multipoles_, locals_;
    DeviceArray<TargetTile> tiles_;
    std::vector<Tiles> up_, down_; ///< by level
    Tiles across_;
    std::optional<Stream> far_stream_; ///< many short launches, which go before the near field's blocks
    Signal ready_, far_done_;
};

} // namespace farfield::cuda
