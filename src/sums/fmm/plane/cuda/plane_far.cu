// PlaneFar: operators on the GPU, and the order of the passes.
#include "sums/fmm/plane/cuda/plane_far.cuh"

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

std::int32_t cells_of(const DeviceTree& tree, int level, int quadrant) {
    return tree.octant_counts()[static_cast<std::size_t>(8 * level + quadrant)];
}

/// Calls body(level, group, first place in by_octant, cells).
template <class Body>
void each_group(const DeviceTree& tree, int first_level, int end_level, const Body& body) {
    std::int32_t first = 0;
    for (int level = 0; level < end_level; ++level)
        for (int quadrant = 0; quadrant < plane_quadrants; ++quadrant) {
            const auto cells = cells_of(tree, level, quadrant);
            if (level >= first_level && cells > 0)
                body(level, level == 0 ? plane_coarse_group : quadrant, first, cells);
            first += cells;
        }
}

} // namespace

void PlaneRuns::add(std::int32_t first, std::int32_t cells, int level, int group, int sets) {
    const int cells_a_tile = 8 / sets;
    run[count++] = {tiles, first, cells, static_cast<std::int16_t>(level), static_cast<std::int16_t>(group)};
    tiles += (cells + cells_a_tile - 1) / cells_a_tile;
}

void PlaneFar::Operator::set(const PlaneOperator& from, const PlaneTensorOperators& of, cudaStream_t stream) {
    upload(from.matrix, matrix, stream);
    upload(from.in, in, stream);
    upload(from.out, out, stream);
    upload(from.senders, senders, stream);
    view.matrix = matrix.data();
    view.in = in.data();
    view.out = out.data();
    view.senders = senders.data();
    std::copy(from.first_sender.begin(), from.first_sender.end(), view.first_sender);
    view.row_tiles = of.row_tiles;
    view.column_steps = of.column_steps;
}

void PlaneFar::prepare(const DeviceTree& tree, const LaurentOrder& order, cudaStream_t stream) {
    has_cells_ = true;
    if (!deepest_stream_) deepest_stream_ = Stream::urgent();
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
    const auto cells = static_cast<std::size_t>(tree.cells());
    make_room(multipoles_, cells * static_cast<std::size_t>(host_->columns), cells);
    make_room(locals_, cells * static_cast<std::size_t>(host_->local_size), cells);
}

double PlaneFar::multiply_adds(const DeviceTree& tree, int sets) const {
    double sum = 0.0;
    each_group(tree, first_level_, tree.levels(), [&](int, int group, std::int32_t, std::int32_t cells) {
        const auto& of = host_->across;
        for (auto s = of.first_sender[static_cast<std::size_t>(group)];
             s < of.first_sender[static_cast<std::size_t>(group) + 1]; ++s) {
            const double terms = of.senders[static_cast<std::size_t>(s)].terms;
            sum += 2.0 * sets * cells * terms * terms;
        }
    });
    return sum;
}

void PlaneFar::gather(const DeviceTree& tree, const PlaneFarView& far, cudaStream_t stream) {
    for (int level = tree.levels() - 2; level >= first_level_; --level) {
        PlaneShiftTask task{far, up_.view, {}, nullptr};
        task.runs.add(tree.level_begin(level), tree.level_begin(level + 1) - tree.level_begin(level), level,
                      plane_coarse_group, far.sets);
        shift_plane_expansions(task, PlanePass::up, stream);
    }
}

void PlaneFar::translate(const DeviceTree& tree, const PlaneFarView& far, int first_level, int end_level,
                         cudaStream_t stream) {
    PlaneShiftTask task{far, across_.view, {}, tree.by_octant()};
    each_group(tree, first_level, end_level,
               [&](int level, int group, std::int32_t first, std::int32_t cells) {
                   task.runs.add(first, cells, level, group, far.sets);
               });
    shift_plane_expansions(task, PlanePass::across, stream);
}

void PlaneFar::spread(const DeviceTree& tree, const PlaneFarView& far, cudaStream_t stream) {
    for (int level = first_level_ + 1; level < tree.levels(); ++level) {
        PlaneShiftTask task{far, down_.view, {}, tree.by_octant()};
        each_group(tree, level, level + 1, [&](int, int group, std::int32_t first, std::int32_t cells) {
            task.runs.add(first, cells, level, group, far.sets);
        });
        shift_plane_expansions(task, PlanePass::down, stream);
    }
}

void PlaneFar::run(const DeviceTree& tree, PlaneSets sets, Vec4<double>* sums, const Done& done,
                   cudaStream_t stream) {
    const int count = count_of(sets);
    const auto expansions = static_cast<std::size_t>(tree.cells()) * static_cast<std::size_t>(count);
    make_room(multipoles_, expansions * static_cast<std::size_t>(host_->columns), expansions);
    make_room(locals_, expansions * static_cast<std::size_t>(host_->local_size), expansions);
    const PlaneFarView far{tree.view(),         host_->order, host_->columns,     host_->local_size,
                           reciprocals_.data(), count,        multipoles_.data(), locals_.data()};
    PlaneFormTask form{far, tree.sources().at.data(), tree.leaves(), tree.leaf_count()};
    form_plane_expansions(form, sets, false, stream);
    done("P2M", stream);
    // all cells of the deepest level are leaves: their M2L need not wait for M2M
    const int deepest = std::max(tree.levels() - 1, first_level_);
    const auto beside = deepest_stream_->get();
    formed_.record(stream);
    formed_.hold(beside);
    done({}, beside);
    translate(tree, far, deepest, tree.levels(), beside);
    done("M2L", beside);
    deepest_done_.record(beside);
    if (first_level_ > 0 && tree.level_begin(first_level_) > 0) // leaves there have local expansions, too
        check(cudaMemsetAsync(far.local(0), 0,
                              static_cast<std::size_t>(tree.level_begin(first_level_) * count) *
                                  static_cast<std::size_t>(far.local_size) * sizeof(PlaneNumber),
                              stream),
              "clearing expansions");
    gather(tree, far, stream);
    done("M2M", stream);
    translate(tree, far, first_level_, deepest, stream);
    deepest_done_.hold(stream);
    done("M2L", stream);
    if (tree.points().total > 0) {
        form.leaves = nullptr;
        form.count = tree.cells();
        form.first = tree.points().first;
        form.partners = tree.points().partners;
        form_plane_expansions(form, sets, true, stream);
        done("P2L", stream);
    }
    spread(tree, far, stream);
    done("L2L", stream);
    const bool listed = tree.multipoles().total > 0;
    evaluate_plane_expansions({far, tree.targets().at.data(), tree.leaves(), tree.leaf_count(),
                               listed ? tree.multipoles().first : nullptr, tree.multipoles().partners, sums},
                              stream);
    done("L2P", stream);
}

} // namespace farfield::cuda
