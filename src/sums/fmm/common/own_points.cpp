#include "sums/fmm/common/own_points.h"

#include "backend/comm/communicator_access.h"

#include <utility>

namespace farfield {

std::optional<OwnPoints> OwnPoints::of(const Communicator& communicator) {
    if (!CommunicatorAccess::gives_own(communicator)) return std::nullopt;
    return OwnPoints();
}

void OwnPoints::take(const RankShare& share, Octree& tree, const NearLists& lists,
                     std::span<const double> sources, std::span<const double> targets, int threads) {
    const auto travel = [&](PointSet set, std::span<const double> given, std::span<const double> numbers,
                            std::optional<RankPoints>& points) {
        const auto& whole = *share.whole();
        const auto halo = set == PointSet::sources ? share.cells()->leaf_halo() : RankHalo();
        points.emplace(*share.ranks(), set, tree, lists.leaves, share.cells()->own_leaves(), halo,
                       given_rows(whole.tree, set, whole.leaves, whole.first_leaves), given, numbers,
                       threads);
        return points->take_points();
    };
    auto of_sources = travel(PointSet::sources, sources, numbers_, sources_);
    Octree::LeafPoints of_targets;
    if (!tree.self()) of_targets = travel(PointSet::targets, targets, {}, targets_);
    tree.take_points(std::move(of_sources), std::move(of_targets));
}

} // namespace farfield
