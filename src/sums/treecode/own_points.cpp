#include "sums/treecode/own_points.h"

#include "backend/comm/communicator_access.h"
#include "backend/comm/transport.h"
#include "backend/threads/parallel.h"
#include "sums/direct/cpu/sums_of_ranks.h"
#include "sums/tree/near_lists.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <utility>

namespace farfield {
namespace {

constexpr int leaves_tag = 221;
/// What a source costs beside a target: one is taken into expansions, the other meets thousands.
constexpr double work_of_a_source = 0.05;

/// Targets that groups begin with, rising.
std::vector<std::int32_t> group_begins(std::span<const TargetNode> nodes) {
    std::vector<std::int32_t> begins;
    for (const auto& node : nodes)
        if (node.children == 0) begins.push_back(node.targets.begin);
    std::sort(begins.begin(), begins.end());
    return begins;
}

/// Rows of the points of some leaves, one run after the other, numbered anew.
class Runs {
public:
    /// One row stays unused between rows that do not follow each other, as RankPoints has it.
    std::int32_t add(BlockRange rows) {
        if (rows.size() == 0) return next_;
        if (ends_.empty() || ends_.back() != rows.begin) {
            if (!ends_.empty()) ++next_;
            begins_.push_back(rows.begin);
            ends_.push_back(rows.begin);
            here_.push_back(next_);
        }
        ends_.back() = rows.end;
        const auto begin = next_;
        next_ += rows.size();
        return begin;
    }
    [[nodiscard]] std::int32_t rows() const { return next_; }
    [[nodiscard]] BlockRange here(BlockRange rows) const {
        const auto after = std::upper_bound(begins_.begin(), begins_.end(), rows.begin);
        const auto run = static_cast<std::size_t>(after - begins_.begin()) - 1;
        const auto moved = here_[run] - begins_[run];
        return {rows.begin + moved, rows.end + moved};
    }

private:
    std::vector<std::int32_t> begins_, ends_, here_; ///< of runs
    std::int32_t next_ = 0;
};

} // namespace

std::optional<TreecodePoints> TreecodePoints::of(const Communicator& communicator) {
    if (!CommunicatorAccess::gives_own(communicator)) return std::nullopt;
    TreecodePoints out;
    out.ranks_ = CommunicatorAccess::transport(communicator);
    return out;
}

// Between leaves at which a group begins.
void TreecodePoints::divide(const Octree& tree, std::span<const TargetNode> nodes) {
    leaves_ = leaves_in_order(tree);
    const auto groups = group_begins(nodes);
    std::vector<std::int32_t> starts; // leaves that a rank may begin with
    std::vector<double> work;
    for (std::size_t n = 0; n < leaves_.size(); ++n) {
        const auto& leaf = tree.cell(leaves_[n]);
        if (starts.empty() || std::binary_search(groups.begin(), groups.end(), leaf.targets.begin)) {
            starts.push_back(static_cast<std::int32_t>(n));
            work.push_back(0.0);
        }
        work.back() += leaf.targets.size() + work_of_a_source * leaf.sources.size();
    }
    starts.push_back(static_cast<std::int32_t>(leaves_.size()));
    first_leaves_.clear();
    for (const auto first : first_of_ranks(work, ranks_->size())) first_leaves_.push_back(starts[first]);
    cuts_.clear();
    target_cuts_.clear();
    for (const auto leaf : first_leaves_) {
        const bool end = leaf == std::ssize(leaves_);
        const auto* const cell = end ? nullptr : &tree.cell(leaves_[static_cast<std::size_t>(leaf)]);
        cuts_.push_back(end ? static_cast<std::int32_t>(tree.source_count()) : cell->sources.begin);
        target_cuts_.push_back(end ? static_cast<std::int32_t>(tree.target_count()) : cell->targets.begin);
    }
    const auto rank = static_cast<std::size_t>(ranks_->rank());
    own_sources_ = {cuts_[rank], cuts_[rank + 1]};
    own_targets_ = {target_cuts_[rank], target_cuts_[rank + 1]};
}

void TreecodePoints::take(const Octree& tree, std::span<TargetNode> nodes, std::span<const double> sources,
                          std::span<const double> targets, int threads) {
    self_ = tree.self();
    divide(tree, nodes);
    const auto rank = static_cast<std::size_t>(ranks_->rank());
    const LeafRange own{first_leaves_[rank], first_leaves_[rank + 1]};
    const auto travel = [&](PointSet set, std::span<const double> given, std::span<const double> numbers,
                            std::optional<RankPoints>& points) {
        points.emplace(*ranks_, set, tree, leaves_, own, RankHalo(),
                       given_rows(tree, set, leaves_, first_leaves_), given, numbers, threads);
        return points->take_points().x;
    };
    source_x_ = travel(PointSet::sources, sources, numbers_, sources_);
    if (!self_) target_x_ = travel(PointSet::targets, targets, {}, targets_);
    set_boxes(nodes, threads);
}

// All ranks get the boxes of all groups.
void TreecodePoints::set_boxes(std::span<TargetNode> nodes, int threads) const {
    set_boxes_of_groups(nodes, self_ ? source_x_ : target_x_, own_targets_, threads);
    std::vector<std::vector<TargetNode*>> of_ranks(static_cast<std::size_t>(ranks_->size()));
    for (auto& node : nodes) {
        if (node.children > 0) continue;
        const auto next = std::upper_bound(target_cuts_.begin(), target_cuts_.end(), node.targets.begin);
        of_ranks[static_cast<std::size_t>(next - target_cuts_.begin()) - 1].push_back(&node);
    }
    using Box = std::array<double, 6>;
    std::vector<Box> own;
    own.reserve(of_ranks[static_cast<std::size_t>(ranks_->rank())].size());
    for (const auto* node : of_ranks[static_cast<std::size_t>(ranks_->rank())])
        own.push_back(
            {node->centre[0], node->centre[1], node->centre[2], node->half[0], node->half[1], node->half[2]});
    std::vector<std::int64_t> counts;
    counts.reserve(of_ranks.size());
    for (const auto& of_rank : of_ranks) counts.push_back(std::ssize(of_rank));
    const auto all = comm::all_gathered(*ranks_, std::span<const Box>(own), counts);
    auto box = all.begin();
    for (const auto& of_rank : of_ranks)
        for (auto* node : of_rank) {
            std::copy_n(box->begin(), 3, node->centre);
            std::copy_n(box->begin() + 3, 3, node->half);
            ++box;
        }
    set_boxes_of_others(nodes);
}

// Each rank asks others for what its groups name.
RankHalo TreecodePoints::leaves_to_bring(const Octree& tree,
                                         std::span<const std::vector<GroupSources>> groups,
                                         int threads) const {
    std::vector<std::int32_t> begins; // of the leaves' sources
    begins.reserve(leaves_.size());
    for (const auto leaf : leaves_) begins.push_back(tree.cell(leaf).sources.begin);
    std::vector<char> wanted(leaves_.size());
    const auto want = [&](BlockRange rows) {
        auto leaf = static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end(), rows.begin) -
                                             begins.begin()) -
                    1;
        for (; leaf < begins.size() && begins[leaf] < rows.end; ++leaf) {
            const std::atomic_ref mark(wanted[leaf]);
            if (mark.load(std::memory_order_relaxed) == 0) mark.store(1, std::memory_order_relaxed);
        }
    };
    parallel_for(threads, std::ssize(groups), [&](std::int64_t part) {
        for (const auto& group : groups[static_cast<std::size_t>(part)])
            for (const auto& source : group.from.near) {
                const auto rows = source.range;
                if (rows.begin < own_sources_.begin || own_sources_.end < rows.end) want(rows);
            }
    });
    const auto ranks = static_cast<std::size_t>(ranks_->size());
    RankHalo out{.to = std::vector<std::vector<std::int32_t>>(ranks),
                 .from = std::vector<std::vector<std::int32_t>>(ranks)};
    std::vector<std::vector<std::int32_t>> asked(ranks); // how many, and which
    for (std::size_t r = 0; r < ranks; ++r) {
        if (static_cast<int>(r) != ranks_->rank())
            for (auto leaf = first_leaves_[r]; leaf < first_leaves_[r + 1]; ++leaf)
                if (wanted[static_cast<std::size_t>(leaf)] != 0) out.from[r].push_back(leaf);
        asked[r].push_back(static_cast<std::int32_t>(out.from[r].size()));
        asked[r].insert(asked[r].end(), out.from[r].begin(), out.from[r].end());
    }
    const auto all = comm::exchanged(*ranks_, asked, leaves_tag);
    auto next = all.begin();
    for (auto& to : out.to) {
        const auto count = *next++;
        to.assign(next, next + count);
        next += count;
    }
    return out;
}

TreecodePoints::Near TreecodePoints::bring(const Octree& tree, std::span<const double> strengths,
                                           std::vector<std::vector<GroupSources>>& groups,
                                           int threads) const {
    const auto halo = leaves_to_bring(tree, groups, threads);
    const auto rows_of = [&](std::int32_t leaf) {
        return tree.cell(leaves_[static_cast<std::size_t>(leaf)]).sources;
    };
    const auto ranks = halo.from.size(), rank = static_cast<std::size_t>(ranks_->rank());
    std::vector<RowRanges> to(ranks), from(ranks);
    Runs runs;
    Near out;
    for (std::size_t r = 0; r < ranks; ++r) { // ranks follow the curve
        if (r == rank) out.own_begin = runs.add(own_sources_);
        for (const auto leaf : halo.from[r]) {
            const std::int64_t begin = runs.add(rows_of(leaf));
            from[r].emplace_back(begin, begin + rows_of(leaf).size());
        }
        for (const auto leaf : halo.to[r])
            to[r].emplace_back(rows_of(leaf).begin - own_sources_.begin,
                               rows_of(leaf).end - own_sources_.begin);
    }
    const auto rows = static_cast<std::size_t>(std::max(runs.rows(), 1));
    const auto own = static_cast<std::size_t>(own_sources_.size());
    std::vector<double*> mine, all;
    const auto place = [&](const double* values, RawVector<double>& in) {
        in.resize(rows);
        std::fill(in.begin(), in.end(), 0.0); // rows that stay unused, too
        std::copy_n(values, own, in.begin() + out.own_begin);
        mine.push_back(in.data() + out.own_begin);
        all.push_back(in.data());
    };
    for (std::size_t axis = 0; axis < 3; ++axis) place(source_x_[axis].data(), out.x[axis]);
    place(strengths.data(), out.strengths);
    exchange_rows(*ranks_, SumRows(mine), std::move(to), SumRows(all), std::move(from));
    parallel_for(threads, std::ssize(groups), [&](std::int64_t part) {
        for (auto& [group, local, sources] : groups[static_cast<std::size_t>(part)]) {
            for (auto& near : sources.near) near.range = runs.here(near.range);
            if (self_)
                group.targets = runs.here(group.targets);
            else
                group.targets = {group.targets.begin - own_targets_.begin,
                                 group.targets.end - own_targets_.begin};
        }
    });
    return out;
}

} // namespace farfield
