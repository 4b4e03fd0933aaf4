#include "sums/fmm/common/rank_share.h"

#include "backend/comm/transport.h"
#include "base/aligned.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace farfield {
namespace {

/// A leaf has its part of the cells above it.
constexpr double cells_a_leaf = 8.0 / 7.0;

std::vector<double> work_of_leaves(const Octree& tree, const NearLists& lists, const LeafRates& rates) {
    auto work = pairs_of_leaves(tree, lists);
    for (std::size_t n = 0; n < work.size(); ++n) {
        const auto& leaf = tree.cell(lists.leaves[n]);
        work[n] *= (tree.self() ? 2.0 : 1.0) * rates.seconds_a_pair; // lists name a pair once
        work[n] += (leaf.sources.size() + leaf.targets.size()) * rates.seconds_a_point;
        if (leaf.targets.size() > 0) work[n] += cells_a_leaf * rates.seconds_a_cell;
    }
    return work;
}

// Rank 0 decides: other hosts may have another cost table.
std::vector<std::int32_t> divide_leaves(comm::Transport& ranks, std::span<const double> work,
                                        std::span<const std::int32_t> starts) {
    std::vector<double> parts;
    for (std::size_t part = 0; part + 1 < starts.size(); ++part)
        parts.push_back(std::accumulate(work.begin() + starts[part], work.begin() + starts[part + 1], 0.0));
    std::vector<std::int32_t> first_leaves;
    for (const auto first : first_of_ranks(parts, ranks.size())) first_leaves.push_back(starts[first]);
    ranks.broadcast(comm::bytes_of(std::span(first_leaves)), 0);
    return first_leaves;
}

} // namespace

void RankShare::divide(const Octree& tree, const NearLists& lists, const std::function<LeafRates()>& rates) {
    tree_ = &tree;
    own_leaves_ = {0, std::ssize(lists.leaves)};
    if (ranks_ == nullptr) return;
    const auto work = work_of_leaves(tree, lists, rates());
    cells_.emplace(tree, lists, divide_leaves(*ranks_, work, part_starts(tree, lists)), ranks_->rank());
    own_leaves_ = cells_->own_leaves();
    halo_ = cells_->cell_halo();
    has_multipole_.resize(tree.cells().size());
    for (std::int32_t cell = 0; cell < std::ssize(tree.cells()); ++cell)
        has_multipole_[static_cast<std::size_t>(cell)] = forms(cell) ? 1 : 0;
    for (const auto& from : halo_.from)
        for (const auto cell : from) has_multipole_[static_cast<std::size_t>(cell)] = 1;
    const auto all = std::accumulate(work.begin(), work.end(), 0.0);
    const auto own =
        std::accumulate(work.begin() + own_leaves_.first, work.begin() + own_leaves_.second, 0.0);
    own_part_ = all > 0.0 ? own / all : 1.0;
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
