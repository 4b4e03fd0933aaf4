#include "sums/fmm/common/rank_share.h"

#include "backend/comm/transport.h"
#include "base/aligned.h"
#include "sums/tree/essential_cells.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace farfield {
namespace {

/// A leaf has its part of the cells above it.
constexpr double cells_a_leaf = 8.0 / 7.0;
/// What a part of a tree takes to make, a cell: 0.3e-6 s to 0.4e-6 s on an AMD EPYC.
constexpr double part_seconds_a_cell = 0.5e-6;

/// Of leaves [begin, end) of the lists.
std::vector<double> work_of_leaves(const Octree& tree, const NearLists& lists, LeafRange leaves,
                                   const LeafRates& rates) {
    auto work = pairs_of_leaves(tree, lists, leaves);
    for (std::size_t n = 0; n < work.size(); ++n) {
        const auto& leaf = tree.cell(lists.leaves[static_cast<std::size_t>(leaves.first) + n]);
        work[n] *= (tree.self() ? 2.0 : 1.0) * rates.seconds_a_pair; // lists name a pair once
        work[n] += (leaf.sources.size() + leaf.targets.size()) * rates.seconds_a_point;
        if (leaf.targets.size() > 0) work[n] += cells_a_leaf * rates.seconds_a_cell;
    }
    return work;
}

double work_between(std::span<const double> work, std::int32_t begin, std::int32_t end) {
    return std::accumulate(work.begin() + begin, work.begin() + end, 0.0);
}

std::vector<std::int32_t> divide_leaves(const comm::Transport& ranks, std::span<const double> work,
                                        std::span<const std::int32_t> starts) {
    std::vector<double> parts;
    for (std::size_t part = 0; part + 1 < starts.size(); ++part)
        parts.push_back(work_between(work, starts[part], starts[part + 1]));
    std::vector<std::int32_t> first_leaves;
    for (const auto first : first_of_ranks(parts, ranks.size())) first_leaves.push_back(starts[first]);
    return first_leaves;
}

double most_work(std::span<const double> work, std::span<const std::int32_t> first_leaves) {
    double most = 0.0;
    for (std::size_t r = 0; r + 1 < first_leaves.size(); ++r)
        most = std::max(most, work_between(work, first_leaves[r], first_leaves[r + 1]));
    return most;
}

/// Leaves that may begin a rank's part, those at or behind the rows of shares.
std::vector<std::int32_t> first_of_shares(const Octree& tree, std::span<const std::int32_t> leaves,
                                          std::span<const std::int32_t> starts) {
    std::vector<std::int32_t> first_leaves;
    for (const auto row : tree.share_begins()) {
        const auto leaf = std::partition_point(leaves.begin(), leaves.end(), [&](std::int32_t cell) {
            return tree.first_row(tree.cell(cell)) < row;
        });
        first_leaves.push_back(*std::lower_bound(starts.begin(), starts.end(),
                                                 static_cast<std::int32_t>(leaf - leaves.begin())));
    }
    first_leaves.front() = 0;
    first_leaves.back() = static_cast<std::int32_t>(leaves.size());
    return first_leaves;
}

} // namespace

// Rank 0 decides: other hosts may have another cost table.
void RankShare::divide(Octree& tree, NearLists& lists, std::int32_t few,
                       const std::function<LeafRates()>& rates, int threads) {
    tree_ = &tree;
    cells_.reset();
    whole_.reset();
    if (tree.is_over_ranks()) return divide_over_ranks(tree, lists, few, rates, threads);
    lists = near_lists(tree, few, threads);
    leaves_of_all_ = std::ssize(lists.leaves);
    own_leaves_ = {0, leaves_of_all_};
    if (ranks_ == nullptr) return;
    const auto work = work_of_leaves(tree, lists, {0, static_cast<std::int32_t>(leaves_of_all_)}, rates());
    auto first_leaves = divide_leaves(*ranks_, work, part_starts(tree, lists.leaves));
    ranks_->broadcast(comm::bytes_of(std::span(first_leaves)), 0);
    cells_.emplace(tree, lists, first_leaves, ranks_->rank());
    plan(work, first_leaves);
}

// Which leaves are a rank's depends on their work, which the lists tell; each rank makes those of its own
// leaves. So ranks begin with the shares that they have. They take fairer ones where that saves more than the
// other part of the tree costs, and else the next time.
void RankShare::divide_over_ranks(Octree& tree, NearLists& lists, std::int32_t few,
                                  const std::function<LeafRates()>& rates, int threads) {
    auto& whole = whole_.emplace(Whole{.tree = std::move(tree)});
    whole.leaves = leaves_in_order(whole.tree);
    leaves_of_all_ = std::ssize(whole.leaves);
    const auto within = leaves_within(whole.tree, whole.leaves);
    const auto starts = part_starts(whole.tree, whole.leaves);
    if (whole.tree.self()) whole.groups = starts;
    whole.first_leaves = first_of_shares(whole.tree, whole.leaves, starts);
    make_part(tree, lists, within, few, threads);
    const auto work = work_of_all(tree, lists, rates());
    auto fairer = divide_leaves(*ranks_, work, starts);
    ranks_->broadcast(comm::bytes_of(std::span(fairer)), 0);
    keep_share_begins(fairer);
    const double saved = most_work(work, whole.first_leaves) - most_work(work, fairer);
    const double cost = part_seconds_a_cell * static_cast<double>(whole.tree.cells().size()) / ranks_->size();
    if (comm::from_rank(*ranks_, saved > cost)) {
        whole.first_leaves = std::move(fairer);
        make_part(tree, lists, within, few, threads);
    }
    plan(work, whole.first_leaves);
}

void RankShare::make_part(Octree& tree, NearLists& lists, std::span<const LeafRange> within, std::int32_t few,
                          int threads) {
    auto essential = find_essential_cells(whole_->tree, within, whole_->leaves, whole_->first_leaves,
                                          ranks_->rank(), few, threads);
    tree = whole_->tree.part(essential.numbers, essential.new_numbers, threads);
    whole_->new_numbers = std::move(essential.new_numbers);
    lists = near_lists(tree, few, threads);
    std::vector<LeafRange> within_part;
    within_part.reserve(essential.numbers.size());
    for (const auto cell : essential.numbers) within_part.push_back(within[static_cast<std::size_t>(cell)]);
    cells_.emplace(tree, lists, whole_->first_leaves, ranks_->rank(), std::move(within_part));
}

// Of the leaves of the whole tree: each rank tells that of its own.
std::vector<double> RankShare::work_of_all(const Octree& tree, const NearLists& lists,
                                           const LeafRates& rates) const {
    const auto own = work_of_leaves(tree, lists, cells_->own_leaves(), rates);
    std::vector<std::int64_t> counts;
    for (std::size_t r = 0; r + 1 < whole_->first_leaves.size(); ++r)
        counts.push_back(whole_->first_leaves[r + 1] - whole_->first_leaves[r]);
    return comm::all_gathered(*ranks_, std::span<const double>(own), counts);
}

void RankShare::keep_share_begins(std::span<const std::int32_t> first_leaves) {
    const auto& whole = *whole_;
    const auto rows = static_cast<double>(whole.tree.share_begins().back());
    share_begins_.clear();
    for (const auto leaf : first_leaves) {
        const auto row = leaf < std::ssize(whole.leaves)
                             ? static_cast<double>(whole.tree.first_row(
                                   whole.tree.cell(whole.leaves[static_cast<std::size_t>(leaf)])))
                             : rows;
        share_begins_.push_back(std::min((row + 0.5) / rows, 1.0)); // so that the product is this row again
    }
    share_begins_.front() = 0.0;
}

void RankShare::plan(std::span<const double> work, std::span<const std::int32_t> first_leaves) {
    own_leaves_ = cells_->own_leaves();
    halo_ = cells_->cell_halo();
    has_multipole_.resize(tree_->cells().size());
    for (std::int32_t cell = 0; cell < std::ssize(tree_->cells()); ++cell)
        has_multipole_[static_cast<std::size_t>(cell)] = forms(cell) ? 1 : 0;
    for (const auto& from : halo_.from)
        for (const auto cell : from) has_multipole_[static_cast<std::size_t>(cell)] = 1;
    const auto rank = static_cast<std::size_t>(ranks_->rank());
    const double all = work_between(work, 0, static_cast<std::int32_t>(work.size()));
    own_part_ = all > 0.0 ? work_between(work, first_leaves[rank], first_leaves[rank + 1]) / all : 1.0;
}

std::optional<NearBlocks::Share> RankShare::near_share() const {
    if (!whole_) return std::nullopt;
    NearBlocks::Share out{.ranks = ranks_, .groups = {}, .own_leaves = cells_->own_leaves()};
    for (const auto leaf : whole_->groups) {
        const auto here = cells_->leaf_here(leaf);
        if (out.groups.empty() || out.groups.back() != here) out.groups.push_back(here);
    }
    return out;
}

template <class T>
RankShare::Arriving<T> RankShare::send(std::span<T> expansions) const {
    constexpr int tag = 103;
    const auto size = expansions.size() / std::max<std::size_t>(tree_->cells().size(), 1);
    const auto room_for = [&](const std::vector<std::vector<std::int32_t>>& halo) {
        std::vector<RawVector<T>> out;
        out.reserve(halo.size());
        for (const auto& numbers : halo) out.emplace_back(numbers.size() * size);
        return out;
    };
    Arriving<T> out;
    out.to_ = room_for(halo_.to);
    out.from_ = room_for(halo_.from);
    std::vector<comm::ConstBytes> leaving;
    std::vector<comm::Bytes> coming;
    for (std::size_t rank = 0; rank < out.to_.size(); ++rank) {
        auto next = out.to_[rank].begin();
        for (const auto cell : halo_.to[rank])
            next = std::copy_n(expansions.begin() + cell * static_cast<std::ptrdiff_t>(size), size, next);
        leaving.push_back(comm::bytes_of(std::span<const T>(out.to_[rank])));
        coming.push_back(comm::bytes_of(std::span<T>(out.from_[rank])));
    }
    out.messages_ = comm::begin_exchange(*ranks_, leaving, coming, tag);
    return out;
}

template <class T>
void RankShare::take(Arriving<T>& arriving, std::span<T> expansions) const {
    const auto size =
        static_cast<std::ptrdiff_t>(expansions.size() / std::max<std::size_t>(tree_->cells().size(), 1));
    for (const auto& message : arriving.messages_) message->wait();
    for (std::size_t rank = 0; rank < arriving.from_.size(); ++rank) {
        auto next = arriving.from_[rank].begin();
        for (const auto cell : halo_.from[rank]) {
            std::copy_n(next, size, expansions.begin() + cell * size);
            next += size;
        }
    }
    arriving = {};
}

bool RankShare::on_any(bool mine) const { return comm::any_rank(ranks_, mine); }

void RankShare::gather_sums(const TileSums& sums) const {
    if (cells_) gather_rows(*ranks_, SumRows(sums), cells_->target_rows());
}

template RankShare::Arriving<float> RankShare::send(std::span<float>) const;
template RankShare::Arriving<double> RankShare::send(std::span<double>) const;
template void RankShare::take(Arriving<float>&, std::span<float>) const;
template void RankShare::take(Arriving<double>&, std::span<double>) const;

} // namespace farfield
