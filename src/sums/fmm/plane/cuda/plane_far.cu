// PlaneFar: operators on the GPU, and the order of the passes.
#include "sums/fmm/plane/cuda/plane_far.cuh"

#include "sums/fmm/plane/plane_shape.h"
#include "sums/tree/leaf_grid.h"

#include <algorithm>

namespace farfield::cuda {
namespace {

bool same(const LaurentOrder& a, const LaurentOrder& b) {
    return a.order == b.order && a.separation == b.separation && a.coarse == b.coarse &&
           a.grading == b.grading;
}

template <class T>
void upload(const std::vector<T>& from, DeviceArray<T>& to, cudaStream_t stream) {
    make_room(to, from.size());
    copy(to.data(), from.data(), from.size(), stream);
}

/// Calls body(level, group, first place in by_octant, cells). @param counts  of cells, as DeviceTree has them
template <class Body>
void each_group(const std::vector<std::int32_t>& counts, int first_level, int end_level, const Body& body) {
    std::int32_t first = 0;
    for (int level = 0; level < end_level; ++level)
        for (int quadrant = 0; quadrant < plane_quadrants; ++quadrant) {
            const auto cells = counts[static_cast<std::size_t>(8 * level + quadrant)];
            if (level >= first_level && cells > 0)
                body(level, level == 0 ? plane_coarse_group : quadrant, first, cells);
            first += cells;
        }
}

} // namespace

void PlaneRuns::add(std::int32_t first, std::int32_t cells, int level, int group, int cells_a_tile) {
    run[count++] = {tiles, first, cells, static_cast<std::int16_t>(level), static_cast<std::int16_t>(group)};
    tiles += (cells + cells_a_tile - 1) / cells_a_tile;
}

void PlaneChainTask::add(PlanePass pass, const PlaneRuns& of) {
    if (of.tiles == 0) return;
    stage[stages++] = {pass, static_cast<std::int16_t>(runs), static_cast<std::int16_t>(of.count), of.tiles};
    std::copy(of.run, of.run + of.count, run + runs);
    runs += of.count;
}

void PlaneFar::Operator::set(const PlaneOperator& from, const PlaneTensorOperators& of, cudaStream_t stream) {
    upload(from.matrix, matrix, stream);
    upload(from.whole.matrices, whole, stream);
    upload(from.in, in, stream);
    upload(from.out, out, stream);
    upload(from.senders, senders, stream);
    view.matrix = matrix.data();
    view.whole = from.whole.matrices.empty() ? nullptr : whole.data();
    view.in = in.data();
    view.out = out.data();
    view.senders = senders.data();
    std::copy(from.first_sender.begin(), from.first_sender.end(), view.first_sender);
    view.row_tiles = of.row_tiles;
    view.column_steps = of.column_steps;
}

void PlaneFar::prepare(const DeviceTree& tree, const PlaneLists& lists, const LaurentOrder& order,
                       cudaStream_t stream) {
    has_cells_ = true;
    lists_ = lists;
    if (!below_stream_) below_stream_ = Stream::urgent();
    if (!host_ || !same(order, order_)) {
        host_.emplace(order);
        order_ = order;
        up_.set(host_->up, *host_, stream);
        across_.set(host_->across, *host_, stream);
        down_.set(host_->down, *host_, stream);
        upload(host_->reciprocals, reciprocals_, stream);
    }
    first_level_ = 0;
    while (!LeafGrid{order.coarse, first_level_, 2}.has_far_cells(order.separation)) ++first_level_;
    make_room_for(static_cast<std::size_t>(tree.cells()));
}

// One expansion more, before the others, for columns that have no sender.
void PlaneFar::make_room_for(std::size_t expansions) {
    make_room(multipoles_, (expansions + 1) * static_cast<std::size_t>(host_->columns), expansions);
    make_room(locals_, (expansions + 1) * static_cast<std::size_t>(host_->local_size), expansions);
}

double PlaneFar::multiply_adds(const DeviceTree& tree, int sets) const {
    double sum = 0.0;
    const auto& counts = tree.all_octant_counts();
    each_group(counts, first_level_, tree.levels(), [&](int, int group, std::int32_t, std::int32_t cells) {
        const auto& of = host_->across;
        for (auto s = of.first_sender[static_cast<std::size_t>(group)];
             s < of.first_sender[static_cast<std::size_t>(group) + 1]; ++s) {
            const double terms = of.senders[static_cast<std::size_t>(s)].terms;
            sum += 2.0 * sets * cells * terms * terms;
        }
    });
    return sum;
}

PlaneRuns PlaneFar::parents(const DeviceTree& tree, int level) const {
    PlaneRuns out;
    const auto begin = tree.level_begin(level);
    out.add(begin, tree.level_begin(level + 1) - begin, level, plane_coarse_group, tile_columns / view_.sets);
    return out;
}

PlaneRuns PlaneFar::targets(const DeviceTree& tree, int first_level, int end_level, int columns) const {
    PlaneRuns out;
    each_group(tree.octant_counts(), first_level, end_level,
               [&](int level, int group, std::int32_t first, std::int32_t cells) {
                   out.add(first, cells, level, group, columns / view_.sets);
               });
    return out;
}

void PlaneFar::gather(const DeviceTree& tree, int first_level, int end_level, cudaStream_t stream) {
    for (int level = end_level - 1; level >= first_level; --level)
        shift_plane_expansions({view_, up_.view, parents(tree, level), nullptr}, PlanePass::up, stream);
}

void PlaneFar::translate(const DeviceTree& tree, int first_level, int end_level, cudaStream_t stream) {
    const int columns = across_.view.whole != nullptr ? wide_tile_columns : tile_columns;
    shift_plane_expansions(
        {view_, across_.view, targets(tree, first_level, end_level, columns), tree.by_octant()},
        PlanePass::across, stream);
}

void PlaneFar::spread(const DeviceTree& tree, int first_level, cudaStream_t stream) {
    for (int level = first_level; level < tree.levels(); ++level)
        shift_plane_expansions({view_, down_.view, targets(tree, level, level + 1), tree.by_octant()},
                               PlanePass::down, stream);
}

// M2M, M2L and L2L of the levels above, and L2L to the others.
void PlaneFar::run_above(const DeviceTree& tree, int below, const Done& done, cudaStream_t stream) {
    PlaneChainTask task;
    task.far = view_;
    task.up = up_.view;
    task.across = across_.view;
    task.down = down_.view;
    task.cells = tree.by_octant();
    for (int level = below - 1; level >= first_level_; --level) task.add(PlanePass::up, parents(tree, level));
    task.add(PlanePass::across, targets(tree, first_level_, below));
    for (int level = first_level_ + 1; level < below; ++level)
        task.add(PlanePass::down, targets(tree, level, level + 1));
    run_plane_chain(task, stream);
    below_done_.hold(stream);
    done("coarse levels", stream);
    spread(tree, std::max(below, first_level_ + 1), stream);
    done("L2L", stream);
}

// Each pass by itself, and P2L between them.
void PlaneFar::run_in_steps(const DeviceTree& tree, int below, const Done& done, cudaStream_t stream) {
    gather(tree, first_level_, below, stream);
    done("M2M", stream);
    translate(tree, first_level_, below, stream);
    below_done_.hold(stream);
    done("M2L", stream);
    if (tree.points().total > 0) {
        PlaneFormTask form{view_, tree.sources().at.data(), nullptr, tree.cells()};
        form.first = tree.points().first;
        form.partners = tree.points().partners;
        form_plane_expansions(form, sets_, true, stream);
    }
    done("P2L", stream);
    spread(tree, first_level_ + 1, stream);
    done("L2L", stream);
}

bool PlaneFar::is_narrow(PlaneSets sets) const {
    constexpr double digits_of_floats = 6.0;
    return order_.order < most_narrow_terms &&
           plane_digits(order_.order, order_.separation) < digits_of_floats && count_of(sets) == 1 &&
           !lists_.multipoles && !lists_.points;
}

void PlaneFar::run(const DeviceTree& tree, PlaneSets sets, const Points& points, const Done& done,
                   cudaStream_t stream) {
    const int count = count_of(sets);
    make_room_for(static_cast<std::size_t>(tree.cells()) * static_cast<std::size_t>(count));
    check(cudaMemsetAsync(multipoles_.data(), 0,
                          static_cast<std::size_t>(host_->columns) * sizeof(PlaneNumber), stream),
          "clearing an expansion");
    sets_ = sets;
    view_ = {tree.view(),
             host_->order,
             host_->columns,
             host_->local_size,
             reciprocals_.data(),
             count,
             multipoles_.data() + host_->columns,
             locals_.data() + host_->local_size};
    PlaneFormTask form{view_, tree.sources().at.data(), tree.leaves(), tree.leaf_count()};
    form.narrow_points = points.narrow_sources;
    form_plane_expansions(form, sets, false, stream);
    done("P2M", stream);
    // most cells lie on the two deepest levels: their M2L need not wait for M2M to the others
    const int below = std::max(tree.levels() - 2, first_level_);
    gather(tree, below, tree.levels() - 1, stream);
    const auto beside = below_stream_->get();
    formed_.record(stream);
    formed_.hold(beside);
    done({}, beside);
    translate(tree, below, tree.levels(), beside);
    done("M2L", beside);
    below_done_.record(beside);
    if (first_level_ > 0 && tree.level_begin(first_level_) > 0) // leaves there have local expansions, too
        check(cudaMemsetAsync(view_.local(0), 0,
                              static_cast<std::size_t>(tree.level_begin(first_level_) * count) *
                                  static_cast<std::size_t>(view_.local_size) * sizeof(PlaneNumber),
                              stream),
              "clearing expansions");
    if (lists_.points)
        run_in_steps(tree, below, done, stream);
    else
        run_above(tree, below, done, stream);
    const bool listed = tree.multipoles().total > 0;
    evaluate_plane_expansions({view_, tree.targets().at.data(), tree.leaves(), tree.leaf_count(),
                               listed ? tree.multipoles().first : nullptr, tree.multipoles().partners,
                               points.sums, points.narrow_targets, points.narrow_sums},
                              stream);
    done("L2P", stream);
}

} // namespace farfield::cuda
