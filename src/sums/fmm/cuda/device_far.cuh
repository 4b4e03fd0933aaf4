// The far field of a tree on a GPU: the passes of one kind of expansions, harmonics or polynomials.
#pragma once

#include "backend/cuda/row_array.h"
#include "sums/fmm/cuda/device_operators.cuh"
#include "sums/fmm/cuda/mirrored_translate.cuh"
#include "sums/fmm/cuda/periodic_level.cuh"
#include "sums/fmm/cuda/tensor_translate.cuh"
#include "sums/fmm/plain_far.h"
#include "sums/tree/cuda/device_tree.cuh"

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace farfield::cuda {

/// Is told when a pass is queued, and on which stream.
using PassDone = std::function<void(std::string_view, cudaStream_t)>;

/// Targets of translations, cut into tiles.
class TreeTiles {
public:
    struct Range {
        int first = 0, count = 0;
    };
    void make(const DeviceTree& tree, cudaStream_t stream);

    [[nodiscard]] const TargetTile* data() const { return tiles_.data(); }
    [[nodiscard]] Range up(int level) const { return up_[static_cast<std::size_t>(level)]; }
    [[nodiscard]] Range down(int level) const { return down_[static_cast<std::size_t>(level)]; }
    /// Of levels [first, end).
    [[nodiscard]] Range across(int first, int end) const {
        return {down(first).first, down(end - 1).first + down(end - 1).count - down(first).first};
    }

private:
    std::vector<TargetTile> made_; ///< stays while it is copied
    DeviceArray<TargetTile> tiles_;
    std::vector<Range> up_, down_; ///< by level
};

/// Where values at targets go, as sums of pairs, in the order of the tree.
struct FarSums {
    Vec4<double>* at = nullptr; ///< null: second derivatives alone
    double* hessians = nullptr; ///< six numbers each, or null
    bool with_field = true;
    bool adds = false;
};

/// In the order of the tree.
template <class Real>
struct LeafPoints {
    const Vec4<Real>*sources, *targets; ///< from the centres of their leaves; w of sources is the strength
    const Vec4<double>* dipoles;        ///< of the sources, or null
};

template <class Real>
class DeviceFar {
public:
    using Part = typename PlainFar<Real>::Part;

    /// @param images  of a periodic tree: what acts between cells of level 0; then `part` has no senders
    /// there
    void prepare(const DeviceTree& tree, const Part& part, const std::shared_ptr<const ImageOperator>& images,
                 cudaStream_t stream);
    [[nodiscard]] bool is_empty() const { return !operators_.has_value(); }
    /// The first of four steps: P2M. The tree's own points are read by passes that take points of other
    /// cells than their own, and where there are dipoles. @param own_only  of leaves that the share forms
    void form(const DeviceTree& tree, const LeafPoints<Real>& points, bool own_only, const PassDone& done,
              cudaStream_t stream);
    /// M2M.
    void climb(const DeviceTree& tree, const TreeTiles& tiles, const PassDone& done, cudaStream_t stream);
    /// From there to the local expansions of leaves: M2L and L2L.
    void make_locals(const DeviceTree& tree, const TreeTiles& tiles, const LeafPoints<Real>& points,
                     const PassDone& done, cudaStream_t stream);
    void evaluate(const DeviceTree& tree, const LeafPoints<Real>& points, const FarSums& sums,
                  const PassDone& done, cudaStream_t stream);
    /// A row for each cell.
    [[nodiscard]] RowArray multipoles() {
        return {reinterpret_cast<std::byte*>(multipoles_.data()),
                static_cast<std::size_t>(operators_->host().stride) * sizeof(Real)};
    }

private:
    [[nodiscard]] PointsToExpansions<Real> forming(const DeviceTree& tree, const LeafPoints<Real>& points);
    [[nodiscard]] TranslateTask<Real> task_of(const DeviceTree& tree, Pass pass, const TargetTile* tiles,
                                              int count);
    void translate_tiles(const DeviceTree& tree, Pass pass, const TargetTile* tiles, int count,
                         cudaStream_t stream);
    void translate_coarsest(const DeviceTree& tree, const TreeTiles& tiles, cudaStream_t stream);
    void translate_across(const DeviceTree& tree, const TreeTiles& tiles, cudaStream_t stream);

    std::optional<DeviceOperators<Real>> operators_;
    std::optional<TensorTranslation> tensor_;           ///< takes all levels but the coarsest, where it can
    std::optional<MirroredTranslation<Real>> mirrored_; ///< takes M2M and M2L, where it can
    std::optional<PeriodicLevel> images_;               ///< adds what acts on level 0 of a periodic tree
    int first_level_ = 0, end_level_ = 0;               ///< of PlainFar
    DeviceArray<Real> multipoles_, locals_;
    DeviceArray<Real> partial_; ///< local expansions of the coarsest level, of each part
};

} // namespace farfield::cuda
