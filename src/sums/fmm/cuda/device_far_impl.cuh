// DeviceFar, included by one source for each type of number.
#pragma once

#include "sums/fmm/cuda/add_parts.cuh"
#include "sums/fmm/cuda/device_far.cuh"
#include "sums/fmm/cuda/narrow_levels.cuh"

#include <algorithm>
#include <type_traits>

namespace farfield::cuda {

/// Thread blocks that share the senders of a tile on the coarsest level.
template <class Real>
int coarsest_parts(const PlainOperators<Real>& of) {
    constexpr int senders_a_part = 12, most_parts = 16;
    const int senders = of.first_sender[coarse_group + 1] - of.first_sender[coarse_group];
    return std::clamp(senders / senders_a_part, 1, most_parts);
}

template <class Real>
void DeviceFar<Real>::prepare(const DeviceTree& tree, const Part& part,
                              const std::shared_ptr<const ImageOperator>& images, cudaStream_t stream) {
    if (part.operators == nullptr) {
        operators_.reset();
        return;
    }
    if (images == nullptr)
        images_.reset();
    else if (!images_)
        images_.emplace();
    if (images_) images_->prepare(images, stream);
    if (!operators_ || operators_->shared() != part.operators) {
        operators_.reset();
        operators_.emplace(part.operators, stream);
        tensor_.reset();
        mirrored_.reset();
    }
    first_level_ = part.first_level;
    end_level_ = part.end_level;
    const auto& host = operators_->host();
    if constexpr (std::is_same_v<Real, float>) {
        if (!tensor_ && has_tensor_operators(host.order, host.size) && TensorTranslation::fits_gpu())
            tensor_.emplace(host, stream);
        if (tensor_) tensor_->prepare(tree.view(), first_level_, end_level_, tree.cells(), stream);
    }
    if (!tensor_ && !mirrored_ && has_mirrored_operators(host.order) && MirroredTranslation<Real>::fits(host))
        mirrored_.emplace(MirroredOperators<Real>(host), host.stride, stream);
    if (mirrored_) mirrored_->prepare(tree, first_level_, end_level_, stream);
    const auto numbers = static_cast<std::size_t>(tree.cells()) * static_cast<std::size_t>(host.stride);
    if (const int parts = coarsest_parts(host); tensor_ && parts > 1) { // for all cells that there may be
        const auto k = static_cast<std::size_t>(host.order.coarse);
        make_room(partial_,
                  static_cast<std::size_t>(parts) * k * k * k * static_cast<std::size_t>(host.stride));
    }
    make_room(multipoles_, numbers, numbers / 4);
    make_room(locals_, numbers, numbers / 4);
}

template <class Real>
TranslateTask<Real> DeviceFar<Real>::task_of(const DeviceTree& tree, Pass pass, const TargetTile* tiles,
                                             int count) {
    auto task = operators_->task(pass);
    task.tree = tree.view();
    task.from = pass == Pass::down ? locals_.data() : multipoles_.data();
    task.to = pass == Pass::up ? multipoles_.data() : locals_.data();
    task.tiles = tiles;
    task.tile_count = count;
    task.list = pass == Pass::up ? nullptr : tree.by_octant();
    return task;
}

template <class Real>
void DeviceFar<Real>::translate_tiles(const DeviceTree& tree, Pass pass, const TargetTile* tiles, int count,
                                      cudaStream_t stream) {
    translate(task_of(tree, pass, tiles, count), pass, operators_->host().size, stream);
}

// Cells of levels that get nothing have local expansions, too.
template <class Real>
void DeviceFar<Real>::translate_across(const DeviceTree& tree, const TreeTiles& tiles, cudaStream_t stream) {
    const auto clear = [&](std::int32_t begin, std::int32_t end) {
        const auto stride = static_cast<std::size_t>(operators_->host().stride);
        if (begin < end)
            check(cudaMemsetAsync(locals_.data() + static_cast<std::size_t>(begin) * stride, 0,
                                  static_cast<std::size_t>(end - begin) * stride * sizeof(Real), stream),
                  "clearing expansions");
    };
    clear(0, tree.level_begin(first_level_));
    clear(tree.level_begin(end_level_), tree.cells());
    if (mirrored_) return mirrored_->run(tree, locals_.data(), stream);
    if (tensor_) {
        if (first_level_ == 0) translate_coarsest(tree, tiles, stream);
        if constexpr (std::is_same_v<Real, float>)
            tensor_->run(tree.view(), multipoles_.data(), locals_.data(), stream);
    } else if (first_level_ < end_level_) {
        const auto across = tiles.across(first_level_, end_level_);
        translate_tiles(tree, Pass::across, tiles.data() + across.first, across.count, stream);
    }
}

// Few cells, each with many senders.
template <class Real>
void DeviceFar<Real>::translate_coarsest(const DeviceTree& tree, const TreeTiles& tiles,
                                         cudaStream_t stream) {
    const auto& host = operators_->host();
    const auto across = tiles.across(0, 1);
    const int parts = coarsest_parts(host);
    if (parts == 1)
        return translate_tiles(tree, Pass::across, tiles.data() + across.first, across.count, stream);
    const auto cells = tree.level_begin(1);
    auto task = task_of(tree, Pass::across, tiles.data() + across.first, across.count);
    task.to = partial_.data();
    task.parts = parts;
    task.part_cells = cells;
    translate(task, Pass::across, host.size, stream);
    int targets = 0;
    for (std::size_t octant = 0; octant < 8; ++octant) targets += tree.octant_counts()[octant];
    add_parts<Real>(partial_.data(), cells, parts, tree.by_octant(), targets, host.stride, locals_.data(),
                    stream);
}

template <class Real>
PointsToExpansions<Real> DeviceFar<Real>::forming(const DeviceTree& tree, const LeafPoints<Real>& points) {
    PointsToExpansions<Real> out{
        tree.view(),        operators_->inside(), tree.sources().at.data(), operators_->host().stride,
        multipoles_.data(), tree.leaves(),        tree.leaf_count(),        {}};
    out.leaf_points = points.sources;
    out.dipoles = points.dipoles;
    out.size = operators_->host().size;
    return out;
}

template <class Real>
void DeviceFar<Real>::form(const DeviceTree& tree, const LeafPoints<Real>& points, bool own_only,
                           const PassDone& done, cudaStream_t stream) {
    auto task = forming(tree, points);
    task.own_only = own_only;
    form_multipoles(task, stream);
    if (task.dipoles != nullptr) add_dipoles(task, false, stream);
    done("P2M", stream);
}

template <class Real>
void DeviceFar<Real>::climb(const DeviceTree& tree, const TreeTiles& tiles, const PassDone& done,
                            cudaStream_t stream) {
    const auto& host = operators_->host();
    const auto narrow = narrow_levels(tree, host, first_level_);
    if (mirrored_) mirrored_->climb(tree, narrow.end, multipoles_.data(), stream);
    for (int level = tree.levels() - 2; level >= narrow.end && !mirrored_; --level)
        translate_tiles(tree, Pass::up, tiles.data() + tiles.up(level).first, tiles.up(level).count, stream);
    if (narrow.size() > 0) {
        climb_narrow(task_of(tree, Pass::up, nullptr, 0), host, tree, narrow, stream);
        if (mirrored_) mirrored_->take(multipoles_.data(), 0, tree.level_begin(narrow.end), stream);
    }
    done("M2M", stream);
}

template <class Real>
void DeviceFar<Real>::make_locals(const DeviceTree& tree, const TreeTiles& tiles,
                                  const LeafPoints<Real>& points, const PassDone& done, cudaStream_t stream) {
    translate_across(tree, tiles, stream);
    if (images_)
        images_->add(tree.view(), operators_->inside(), multipoles_.data(), operators_->host().stride,
                     locals_.data(), stream);
    done("M2L", stream);
    if (tree.points().total > 0) {
        auto task = forming(tree, points);
        task.expansions = locals_.data();
        task.cells = nullptr;
        task.count = tree.cells();
        task.rows = {tree.points().first, tree.points().partners};
        add_points(task, stream);
        task.functions = operators_->outside();
        if (task.dipoles != nullptr) add_dipoles(task, true, stream);
        done("P2L", stream);
    }
    const auto narrow = narrow_levels(tree, operators_->host(), first_level_ + 1);
    if (narrow.size() > 0) {
        descend_narrow(task_of(tree, Pass::down, nullptr, 0), operators_->host(), tree, narrow, stream);
    }
    for (int level = narrow.end; level < tree.levels(); ++level)
        translate_tiles(tree, Pass::down, tiles.data() + tiles.down(level).first, tiles.down(level).count,
                        stream);
    done("L2L", stream);
}

/// Values and gradients where they are wanted, then second derivatives.
template <class Real, class Evaluate>
void evaluate_sets(ExpansionsToPoints<Real> task, const FunctionsView<Real>& second, double* hessians,
                   const Evaluate& evaluate, cudaStream_t stream) {
    if (task.sums != nullptr) evaluate(task, stream);
    if (hessians == nullptr) return;
    task.hessians = hessians;
    task.with_field = true; // all of four sets
    for (task.group = 0; task.group < 2; ++task.group) {
        task.functions = second.sets_from(task.group);
        evaluate(task, stream);
    }
}

template <class Real>
void DeviceFar<Real>::evaluate(const DeviceTree& tree, const LeafPoints<Real>& points, const FarSums& sums,
                               const PassDone& done, cudaStream_t stream) {
    ExpansionsToPoints<Real> task{tree.view(),
                                  operators_->inside(),
                                  tree.targets().at.data(),
                                  operators_->host().stride,
                                  locals_.data(),
                                  tree.leaves(),
                                  tree.leaf_count(),
                                  {},
                                  sums.at,
                                  sums.with_field,
                                  sums.adds};
    task.leaf_points = points.targets;
    evaluate_sets(task, operators_->inside_second(), sums.hessians, evaluate_locals<Real>, stream);
    done("L2P", stream);
    if (tree.multipoles().total == 0) return;
    task.functions = operators_->outside();
    task.expansions = multipoles_.data();
    task.rows = {tree.multipoles().first, tree.multipoles().partners};
    evaluate_sets(task, operators_->outside_second(), sums.hessians, evaluate_multipoles<Real>, stream);
    done("M2P", stream);
}

} // namespace farfield::cuda
