// DevicePasses, included by one source for each type of number.
#pragma once

#include "sums/fmm/cuda/device_passes.cuh"
#include "sums/tree/cuda/launch.cuh"

#include <algorithm>
#include <type_traits>

namespace farfield::cuda {
namespace detail {

template <class Real>
__global__ void strength_kernel(const double* strengths, const std::int32_t* from, int count, int exponent,
                                Vec4<double>* points, Vec4<Real>* near) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    const double q = scalbn(strengths[from[i]], exponent);
    points[i].w = q;
    near[i].w = static_cast<Real>(q);
}

} // namespace detail

template <class Real>
void DevicePasses<Real>::prepare(const DeviceTree& tree,
                                 std::shared_ptr<const PlainOperators<Real>> operators, cudaStream_t stream) {
    if (!far_stream_) far_stream_ = Stream::urgent();
    const bool self = tree.view().self;
    const auto leaves = static_cast<std::size_t>(tree.leaf_count());
    const auto centre = [&](const DevicePoints& points, bool of_targets, DeviceArray<Vec4<Real>>& out,
                            DeviceArray<Vec4<double>>& centres, DeviceArray<BlockRange>& ranges) {
        make_room(out, static_cast<std::size_t>(points.count));
        make_room(centres, leaves, leaves / 4);
        make_room(ranges, leaves, leaves / 4);
        centre_points(CentreTask<Real>{tree.view(), points.at.data(), tree.leaves(), tree.leaf_count(),
                                       of_targets, out.data(), centres.data(), ranges.data()},
                      stream);
    };
    centre(tree.sources(), false, sources_, centres_, source_ranges_);
    if (!self) centre(tree.targets(), true, targets_, target_centres_, target_ranges_);
    plan_.queue(self ? source_ranges_.data() : target_ranges_.data(), tree.leaf_count(), tree.targets().count,
                sizeof(Real), stream);
    if (operators == nullptr) {
        operators_.reset();
        return;
    }
    if (!operators_ || operators_->shared() != operators) {
        operators_.reset();
        operators_.emplace(std::move(operators), stream);
        tensor_.reset();
        if constexpr (std::is_same_v<Real, float>)
            if (has_tensor_operators(operators_->host().order)) tensor_.emplace(operators_->host(), stream);
    }
    const auto numbers =
        static_cast<std::size_t>(tree.cells()) * static_cast<std::size_t>(operators_->host().stride);
    make_room(multipoles_, numbers, numbers / 4);
    make_room(locals_, numbers, numbers / 4);
    make_tiles(tree, stream);
    if (tensor_) tensor_->prepare(tree.view(), tree.levels(), tree.cells(), stream);
}

template <class Real>
void DevicePasses<Real>::make_tiles(const DeviceTree& tree, cudaStream_t stream) {
    constexpr int width = tile_targets;
    std::vector<TargetTile> tiles;
    const auto begin = [&] { return Tiles{static_cast<int>(tiles.size()), 0}; };
    const auto cut = [&](Tiles& of, std::int32_t first, std::int32_t count, std::int32_t group) {
        for (; count > 0; first += width, count -= width) {
            tiles.push_back({first, std::min(count, width), group, 0});
            ++of.count;
        }
    };
    up_.clear();
    down_.clear();
    for (int level = 0; level < tree.levels(); ++level) {
        auto& up = up_.emplace_back(begin());
        cut(up, tree.level_begin(level), tree.level_begin(level + 1) - tree.level_begin(level), 0);
    }
    across_ = begin();
    std::int32_t first = 0;
    for (int level = 0; level < tree.levels(); ++level) {
        auto& down = down_.emplace_back(begin());
        for (int octant = 0; octant < 8; ++octant) {
            const auto count = tree.octant_counts()[static_cast<std::size_t>(8 * level + octant)];
            cut(down, first, count, level == 0 ? coarse_group : octant);
            first += count;
        }
        if (level == 0 || !tensor_) across_.count += down.count;
    }
    make_room(tiles_, tiles.size(), tiles.size() / 4);
    copy(tiles_.data(), tiles.data(), tiles.size(), stream);
}

template <class Real>
void DevicePasses<Real>::set_strengths(DeviceTree& tree, const double* strengths, int exponent,
                                       cudaStream_t stream) {
    launch_over(tree.sources().count, stream, detail::strength_kernel<Real>, strengths,
                tree.sources().from.data(), tree.sources().count, exponent, tree.weighted_sources(),
                sources_.data());
}

template <class Real>
void DevicePasses<Real>::translate_tiles(const DeviceTree& tree, Pass pass, const Tiles& tiles,
                                         cudaStream_t stream) {
    auto task = operators_->task(pass);
    task.tree = tree.view();
    task.from = pass == Pass::down ? locals_.data() : multipoles_.data();
    task.to = pass == Pass::up ? multipoles_.data() : locals_.data();
    task.tiles = tiles_.data() + tiles.first;
    task.tile_count = tiles.count;
    task.list = pass == Pass::up ? nullptr : tree.by_octant();
    translate(task, pass, operators_->host().size, stream);
}

template <class Real>
void DevicePasses<Real>::run(const DeviceTree& tree, double softening, int outputs,
                             const PassSums<Real>& sums, const Done& done, cudaStream_t stream) {
    if (operators_) { // first: the host waits for the near field's plan
        ready_.record(stream);
        ready_.hold(far_stream());
        done({}, far_stream());
        run_far(tree, (outputs & field_only) != 0, sums.far, done, far_stream());
        far_done_.record(far_stream());
    }
    run_near(tree, softening, outputs, sums.near, stream);
    done("P2P", stream);
    if (operators_) far_done_.hold(stream);
}

template <class Real>
void DevicePasses<Real>::run_near(const DeviceTree& tree, double softening, int outputs, Vec4<Real>* near,
                                  cudaStream_t stream) {
    plan_.finish(stream);
    const bool self = tree.view().self;
    BlockTask<Real> task;
    task.targets = self ? sources_.data() : targets_.data();
    task.sources = sources_.data();
    task.target_blocks = self ? source_ranges_.data() : target_ranges_.data();
    task.source_blocks = source_ranges_.data();
    task.first = tree.direct().first;
    task.partners = tree.direct().partners;
    task.target_centres = self ? centres_.data() : target_centres_.data();
    task.source_centres = centres_.data();
    task.own = self;
    task.softening2 = static_cast<Real>(softening * softening);
    task.outputs = outputs;
    task.sums = near;
    launch_blocks(task, plan_.view(), static_cast<Vec4<Real>*>(nullptr), stream);
}

template <class Real>
void DevicePasses<Real>::run_far(const DeviceTree& tree, bool with_field, Vec4<double>* far, const Done& done,
                                 cudaStream_t stream) {
    const int stride = operators_->host().stride;
    PointsToExpansions<Real> form{tree.view(),        operators_->inside(), tree.sources().at.data(), stride,
                                  multipoles_.data(), tree.leaves(),        tree.leaf_count(),        {}};
    form_multipoles(form, stream);
    done("P2M", stream);
    for (int level = tree.levels() - 2; level >= 0; --level)
        translate_tiles(tree, Pass::up, up_[static_cast<std::size_t>(level)], stream);
    done("M2M", stream);
    translate_tiles(tree, Pass::across, across_, stream);
    if constexpr (std::is_same_v<Real, float>)
        if (tensor_) tensor_->run(tree.view(), multipoles_.data(), locals_.data(), stream);
    done("M2L", stream);
    if (tree.points().total > 0) {
        form.functions = operators_->inside();
        form.expansions = locals_.data();
        form.cells = nullptr;
        form.count = tree.cells();
        form.rows = {tree.points().first, tree.points().partners};
        add_points(form, stream);
        done("P2L", stream);
    }
    for (int level = 1; level < tree.levels(); ++level)
        translate_tiles(tree, Pass::down, down_[static_cast<std::size_t>(level)], stream);
    done("L2L", stream);
    ExpansionsToPoints<Real> evaluate{tree.view(),
                                      operators_->inside(),
                                      tree.targets().at.data(),
                                      stride,
                                      locals_.data(),
                                      tree.leaves(),
                                      tree.leaf_count(),
                                      {},
                                      far,
                                      with_field};
    evaluate_locals(evaluate, stream);
    done("L2P", stream);
    if (tree.multipoles().total == 0) return;
    evaluate.functions = operators_->outside();
    evaluate.expansions = multipoles_.data();
    evaluate.rows = {tree.multipoles().first, tree.multipoles().partners};
    evaluate_multipoles(evaluate, stream);
    done("M2P", stream);
}

} // namespace farfield::cuda
