// From points to multipole expansions, and from children to their parents. The expansion of points about a
// cell's centre is the sum of strength times R_l^m (P2M); a cell's expansion is the sum of its children's,
// shifted (M2M).
#include "sums/fmm/passes.h"

#include "backend/threads/parallel.h"
#include "sums/direct/cpu/isa_function.h"
#include "sums/fmm/point_scratch.h"

#include <algorithm>
#include <utility>

namespace farfield {

template <class T>
FmmPasses<T>::FmmPasses(const Octree& tree, const NearLists& lists, const RankShare& share,
                        std::shared_ptr<const FmmOperators<T>> operators, int levels, Isa isa, int threads,
                        std::shared_ptr<const ImageOperator> images)
    : tree_(tree), lists_(lists), share_(share), operators_(std::move(operators)), images_(std::move(images)),
      levels_(levels), isa_(isa), threads_(threads),
      zeros_(static_cast<std::size_t>(operators_->size), T(0)) {
    list_senders();
    if (!operators_->in_blocks()) return;
    block_senders_.emplace(*operators_, tree_.shape().separation);
    make_groups();
}

// Adds the expansion of the points of a cell about the centre of another, or the same: a multipole expansion,
// or with `inverted` points a local one.
template <class T>
void FmmPasses<T>::form(const TreeCell& cell, const TreeCell& points, bool inverted, T* expansion,
                        PointScratch& scratch) const {
    const auto& table = operators_->table;
    scratch.set_points(tree_.sources(), points.sources, tree_.centre(cell, points), tree_.width(cell.level),
                       inverted);
    const auto strengths = strengths_.subspan(static_cast<std::size_t>(points.sources.begin));
    for (std::size_t i = 0; i < static_cast<std::size_t>(scratch.count); ++i)
        scratch.weight[i] *= static_cast<T>(strengths[i]);
    sum_functions(table, scratch);
    const auto places = table.places();
    for (std::size_t n = 0; n < places.size(); ++n)
        if (places[n] >= 0) expansion[places[n]] += scratch.sums[n];
    if (!dipoles_.empty()) form_dipoles(cell, points, inverted, expansion, scratch);
}

// Of each function of the table Σ weight·function over the points of `scratch`.
template <class T>
void FmmPasses<T>::sum_functions(const FunctionTable<T>& table, PointScratch& scratch) const {
    scratch.sums.resize(table.numbers());
    scratch.lanes.resize(table.numbers() * static_cast<std::size_t>(PointScratch::line));
    const FormTask task{.functions = table.loop(),
                        .points = scratch.points(),
                        .weight = scratch.weight.data(),
                        .sums = scratch.sums.data(),
                        .scratch = scratch.lanes.data()};
    FF_ISA_FUNCTION(ff_form, isa_)(&task);
}

template <class T>
double FmmPasses<T>::point_work(double points) const {
    return 4.0 * operators_->functions * points; // steps of the recurrences, and products
}

template <class T>
bool FmmPasses<T>::translates() const {
    if (operators_->rotated || images_ != nullptr) return levels_ > 0;
    for (int level = 0; level < std::min(levels_, tree_.levels()); ++level)
        for (const auto& translation : operators_->across_level(level))
            if (translation.multiply_adds() > 0.0) return true;
    return false;
}

template <class T>
double FmmPasses<T>::work() const {
    std::vector<double> across(static_cast<std::size_t>(tree_.levels()), 0.0); // to a cell of each level
    for (int level = first_level_across(); level < std::min(levels_, tree_.levels()); ++level)
        if (operators_->rotated)
            across[static_cast<std::size_t>(level)] = rotated_work_of(0); // of other octants as much
        else if (block_senders_ && level > 0)
            across[static_cast<std::size_t>(level)] = block_senders_->multiply_adds(level);
        else
            for (const auto& translation : operators_->across_level(level))
                across[static_cast<std::size_t>(level)] += translation.multiply_adds();
    double sum = 0.0;
    for (int level = 0; level < tree_.levels(); ++level)
        sum += static_cast<double>(tree_.count_receivers(level)) * across[static_cast<std::size_t>(level)];
    if (images_ != nullptr) sum += images_->work();
    const auto points = tree_.source_count() + tree_.target_count();
    return sum + point_work(static_cast<double>(points));
}

template <class T>
void FmmPasses<T>::form_multipoles(std::span<const double> strengths, std::span<const double> dipoles) {
    strengths_ = strengths;
    dipoles_ = dipoles;
    multipoles_.reset(tree_.cells().size(), static_cast<std::size_t>(operators_->size), threads_,
                      [this](std::int32_t cell) { return share_.forms(cell); });
    each_own_leaf([&](std::size_t begin, std::size_t end) {
        PointScratch scratch;
        double points = 0.0;
        for (auto n = begin; n < end; ++n) {
            const auto number = lists_.leaves[n];
            const auto& leaf = tree_.cell(number);
            if (leaf.sources.size() > 0) form(leaf, leaf, false, multipoles_.of(number), scratch);
            points += leaf.sources.size();
        }
        done(point_work(points));
    });
}

template <class T>
template <class Wanted>
void FmmPasses<T>::gather_levels(const Wanted& wanted) {
    constexpr std::int32_t cells_a_task = 32;
    const auto gather_level = [&](int level) {
        const auto first = tree_.level_begin(level);
        const auto last = tree_.level_begin(level + 1);
        parallel_for(threads_, (last - first + cells_a_task - 1) / cells_a_task, [&](std::int64_t number) {
            std::vector<const void*> sources;
            std::vector<void*> expansions;
            const auto begin = first + static_cast<std::int32_t>(number) * cells_a_task;
            for (auto cell = begin; cell < std::min(last, begin + cells_a_task); ++cell) {
                const auto& parent = tree_.cell(cell);
                if (parent.leaf || parent.sources.size() == 0 || !wanted(cell)) continue;
                for (const auto child : parent.children)
                    sources.push_back(child != no_cell && tree_.cell(child).sources.size() > 0
                                          ? multipoles_.of(child)
                                          : nullptr);
                expansions.push_back(multipoles_.of(cell));
            }
            AlignedVector<T> scratch;
            send(operators_->up, sources, expansions, scratch);
        });
    };
    for (int level = tree_.levels() - 2; level >= 0; --level) gather_level(level);
}

template <class T>
void FmmPasses<T>::gather_multipoles() {
    arriving_ = share_.begin_gather(multipoles_.all(), [&](const auto& wanted) { gather_levels(wanted); });
}

template <class T>
void FmmPasses<T>::receive_multipoles() {
    share_.end_gather(arriving_, multipoles_.all(), [&](const auto& wanted) { gather_levels(wanted); });
}

template FmmPasses<float>::FmmPasses(const Octree&, const NearLists&, const RankShare&,
                                     std::shared_ptr<const FmmOperators<float>>, int, Isa, int,
                                     std::shared_ptr<const ImageOperator>);
template FmmPasses<double>::FmmPasses(const Octree&, const NearLists&, const RankShare&,
                                      std::shared_ptr<const FmmOperators<double>>, int, Isa, int,
                                      std::shared_ptr<const ImageOperator>);
template double FmmPasses<float>::point_work(double) const;
template double FmmPasses<double>::point_work(double) const;
template bool FmmPasses<float>::translates() const;
template bool FmmPasses<double>::translates() const;
template double FmmPasses<float>::work() const;
template double FmmPasses<double>::work() const;
template void FmmPasses<float>::form(const TreeCell&, const TreeCell&, bool, float*, PointScratch&) const;
template void FmmPasses<double>::form(const TreeCell&, const TreeCell&, bool, double*, PointScratch&) const;
template void FmmPasses<float>::sum_functions(const FunctionTable<float>&, PointScratch&) const;
template void FmmPasses<double>::sum_functions(const FunctionTable<double>&, PointScratch&) const;
template void FmmPasses<float>::form_multipoles(std::span<const double>, std::span<const double>);
template void FmmPasses<double>::form_multipoles(std::span<const double>, std::span<const double>);
template void FmmPasses<float>::gather_multipoles();
template void FmmPasses<double>::gather_multipoles();
template void FmmPasses<float>::receive_multipoles();
template void FmmPasses<double>::receive_multipoles();

} // namespace farfield
