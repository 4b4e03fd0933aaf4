// DevicePasses, included by one source for each type of number.
#pragma once

#include "sums/fmm/cuda/device_far_impl.cuh"
#include "sums/fmm/cuda/device_passes.cuh"
#include "sums/points/framed_point.cuh"
#include "sums/tree/cuda/launch.cuh"
#include "sums/tree/cuda/leaf_points.cuh"

namespace farfield::cuda {
namespace detail {

constexpr int leaf_threads = 128, lanes_a_leaf = 32;

/// A warp takes a leaf: its sources, from its centre, to `near`, and in the frame to `exact`, if that is not
/// null. @param read  null, or 0 for leaves that are not wanted
template <class Real>
__global__ void __launch_bounds__(leaf_threads)
    source_kernel(const GivenSources given, const TreeView tree, const std::int32_t* leaves, int count,
                  const std::uint8_t* read, const std::int32_t* from, Vec4<double>* exact, Vec4<Real>* near) {
    const int number = static_cast<int>(blockIdx.x * leaf_threads + threadIdx.x) / lanes_a_leaf;
    if (number >= count || (read != nullptr && read[number] == 0)) return;
    const auto leaf = leaves[number];
    const auto& place = tree.places[leaf];
    const double centre[3] = {tree.centre(place, 0), tree.centre(place, 1), tree.centre(place, 2)};
    const auto range = tree.sources[leaf];
    for (int i = range.begin + static_cast<int>(threadIdx.x) % lanes_a_leaf; i < range.end;
         i += lanes_a_leaf) {
        const std::int64_t row = from[i];
        auto point = framed_point(given.points, row, 3, given.frame);
        point.w = scalbn(given.strengths[row], given.exponent);
        near[i] = {static_cast<Real>(point.x - centre[0]), static_cast<Real>(point.y - centre[1]),
                   static_cast<Real>(point.z - centre[2]), static_cast<Real>(point.w)};
        if (exact != nullptr) exact[i] = point;
    }
}

/// Leaves that the share forms, those with its targets, and those whose points act on these one by one;
/// whoever writes, writes the same.
inline __global__ void read_leaves_kernel(const TreeView tree, const std::int32_t* leaves, int count,
                                          const DeviceRows direct, std::uint8_t* read) {
    const int number = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (number >= count) return;
    const bool has_targets = tree.targets[leaves[number]].size() > 0;
    if (has_targets || tree.forms(leaves[number])) read[number] = 1;
    if (!has_targets) return;
    for (auto k = direct.first[number]; k < direct.last[number]; ++k) read[direct.partners[k]] = 1;
}

template <class Real>
__global__ void dipole_kernel(const double* dipoles, const std::int32_t* from, int count, int exponent,
                              Vec4<double>* out, Vec4<Real>* near) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    const double* const p = dipoles + 3LL * from[i];
    const Vec4<double> scaled{scalbn(p[0], exponent), scalbn(p[1], exponent), scalbn(p[2], exponent), 0.0};
    out[i] = scaled;
    near[i] = {static_cast<Real>(scaled.x), static_cast<Real>(scaled.y), static_cast<Real>(scaled.z),
               Real(0)};
}

/// Passes that are told of as one.
inline void untold(std::string_view /*pass*/, cudaStream_t /*stream*/) {}

} // namespace detail

template <class Real>
void DevicePasses<Real>::prepare(const DeviceTree& tree, const PlainFar<Real>& far, bool mends,
                                 bool shares_multipoles, cudaStream_t stream) {
    mends_ = mends;
    shares_multipoles_ = shares_multipoles;
    if (!far_stream_) far_stream_ = Stream::urgent();
    if (!far.polynomials.operators || !far.harmonics.operators)
        polynomial_stream_.reset();
    else if (!polynomial_stream_)
        polynomial_stream_ = Stream::urgent();
    const bool self = tree.view().self;
    const auto leaves = static_cast<std::size_t>(tree.leaf_count());
    const auto centre = [&](const DevicePoints& points, bool of_targets, Vec4<Real>* out,
                            DeviceArray<Vec4<double>>& centres, DeviceArray<BlockRange>& ranges) {
        make_room(centres, leaves, leaves / 4);
        make_room(ranges, leaves, leaves / 4);
        centre_points(CentreTask<Real>{tree.view(), points.at.data(), tree.leaves(), tree.leaf_count(),
                                       of_targets, out, centres.data(), ranges.data()},
                      stream);
    };
    make_room(sources_, static_cast<std::size_t>(tree.sources().count));
    centre(tree.sources(), false, nullptr, centres_, source_ranges_); // sources come with their strengths
    if (!self) {
        make_room(targets_, static_cast<std::size_t>(tree.targets().count));
        centre(tree.targets(), true, targets_.data(), target_centres_, target_ranges_);
    } else if (tree.is_share()) {
        centre(tree.targets(), true, nullptr, target_centres_, target_ranges_);
    }
    const int count = tree.targets().count;
    plan_.queue(target_ranges(tree), tree.leaf_count(), count,
                block_shape(static_cast<double>(count) / std::max(1, tree.leaf_count()), sizeof(Real)),
                stream);
    harmonics_.prepare(tree, far.harmonics, far.images, stream);
    polynomials_.prepare(tree, far.polynomials, nullptr, stream);
    if (has_far_field()) tiles_.make(tree, stream);
    if (!shares_multipoles_) return;
    make_room(read_leaves_, leaves, leaves / 4);
    // P2L reads points of leaves farther off: then all are placed
    const bool all = tree.points().total > 0;
    check(cudaMemsetAsync(read_leaves_.data(), all ? 1 : 0, leaves, stream), "clearing flags");
    if (!all)
        launch_over(tree.leaf_count(), stream, detail::read_leaves_kernel, tree.view(), tree.leaves(),
                    tree.leaf_count(), tree.direct(), read_leaves_.data());
}

template <class Real>
void DevicePasses<Real>::set_sources(DeviceTree& tree, const GivenSources& given, cudaStream_t stream) {
    has_dipoles_ = given.dipoles != nullptr;
    // who reads them: P2L and M2P, which take points of other cells; dipoles; the mending of close pairs
    const bool exact = mends_ || has_dipoles_ || tree.points().total > 0 || tree.multipoles().total > 0;
    if (const int leaves = tree.leaf_count(); leaves > 0) {
        constexpr int leaves_a_block = detail::leaf_threads / detail::lanes_a_leaf;
        const auto blocks = static_cast<unsigned>((leaves + leaves_a_block - 1) / leaves_a_block);
        detail::source_kernel<<<blocks, detail::leaf_threads, 0, stream>>>(
            given, tree.view(), tree.leaves(), leaves, shares_multipoles_ ? read_leaves_.data() : nullptr,
            tree.sources().from.data(), exact ? tree.weighted_sources() : nullptr, sources_.data());
        check_launch("placing sources");
    }
    if (!has_dipoles_) return;
    const auto n = static_cast<std::size_t>(tree.sources().count);
    make_room(dipoles_, n);
    make_room(near_dipoles_, n);
    launch_over(tree.sources().count, stream, detail::dipole_kernel<Real>, given.dipoles,
                tree.sources().from.data(), tree.sources().count, given.exponent + given.frame.exponent,
                dipoles_.data(), near_dipoles_.data());
}

template <class Real>
template <class Queue>
void DevicePasses<Real>::queue_far(const Queue& queue, cudaStream_t stream) {
    try {
        queue(far_stream(), polynomial_stream());
    } catch (...) { // what both fields work on may be given up now
        for (auto* const each : {far_stream(), polynomial_stream(), stream}) cudaStreamSynchronize(each);
        throw;
    }
}

template <class Real>
void DevicePasses<Real>::form(const DeviceTree& tree, double softening, int outputs,
                              const PassSums<Real>& sums, const Done& done, cudaStream_t stream) {
    if (has_far_field()) {
        ready_.record(stream);
        for (auto* const each : {far_stream(), polynomial_stream()}) {
            ready_.hold(each);
            done({}, each);
        }
    }
    run_near(tree, softening, outputs, sums, stream); // one launch, whose blocks make room for urgent ones
    done("P2P", stream);
    if (!has_far_field()) return;
    const auto queue = [&](cudaStream_t far, cudaStream_t beside) {
        const auto points = leaf_points(tree);
        if (!harmonics_.is_empty()) harmonics_.form(tree, points, shares_multipoles_, done, far);
        if (!polynomials_.is_empty())
            polynomials_.form(tree, points, shares_multipoles_, detail::untold, beside);
        if (shares_multipoles_) wait_for(beside, far);
        formed_.record(far);
    };
    queue_far(queue, stream);
}

template <class Real>
void DevicePasses<Real>::finish(const DeviceTree& tree, int outputs, const PassSums<Real>& sums,
                                const Done& done, cudaStream_t stream) {
    if (!has_far_field()) return;
    const auto queue = [&](cudaStream_t far, cudaStream_t beside) {
        const auto points = leaf_points(tree);
        FarSums values{(outputs & field_and_potential) != 0 ? sums.far : nullptr,
                       (outputs & hessian_too) != 0 ? sums.far_hessians : nullptr,
                       (outputs & field_only) != 0, false};
        if (shares_multipoles_) wait_for(far, beside); // which has taken those of others
        if (!harmonics_.is_empty()) harmonics_.climb(tree, tiles_, done, far);
        if (!polynomials_.is_empty()) polynomials_.climb(tree, tiles_, detail::untold, beside);
        // M2L of one kind leaves no room for many short launches of the other
        wait_for(far, beside);
        wait_for(beside, far);
        if (!harmonics_.is_empty()) {
            harmonics_.make_locals(tree, tiles_, points, done, far);
            harmonics_.evaluate(tree, points, values, done, far);
            values.adds = true;
        }
        if (!polynomials_.is_empty()) {
            polynomials_.make_locals(tree, tiles_, points, detail::untold, beside);
            done("softening", beside);
            wait_for(beside, far);
            polynomials_.evaluate(tree, points, values, done, far);
        }
        far_done_.record(far);
    };
    queue_far(queue, stream);
    far_done_.hold(stream);
}

template <class Real>
std::vector<RowArray> DevicePasses<Real>::multipoles() {
    std::vector<RowArray> out;
    for (auto* kind : {&harmonics_, &polynomials_})
        if (!kind->is_empty()) out.push_back(kind->multipoles());
    return out;
}

template <class Real>
void DevicePasses<Real>::run_near(const DeviceTree& tree, double softening, int outputs,
                                  const PassSums<Real>& sums, cudaStream_t stream) {
    plan_.finish(stream);
    const bool self = tree.view().self;
    BlockTask<Real> task;
    task.targets = self ? sources_.data() : targets_.data();
    task.sources = sources_.data();
    task.target_blocks = target_ranges(tree);
    task.source_blocks = source_ranges_.data();
    task.first = tree.direct().first;
    task.last = tree.direct().last;
    task.partners = tree.direct().partners;
    task.target_centres = self ? centres_.data() : target_centres_.data();
    task.source_centres = centres_.data();
    task.period = tree.view().period;
    task.own = self;
    task.softening2 = static_cast<Real>(softening * softening);
    task.outputs = outputs;
    task.sums = sums.near;
    if (mends_) {
        task.exact_targets = tree.targets().at.data();
        task.exact_sources = tree.sources().at.data();
    }
    const bool with_hessian = (outputs & hessian_too) != 0;
    if (has_dipoles_ || with_hessian)
        return launch_whole_blocks(WholeTask<Real>{task, tree.leaf_count(),
                                                   has_dipoles_ ? near_dipoles_.data() : nullptr,
                                                   with_hessian ? sums.near_hessians : nullptr},
                                   stream);
    launch_blocks(task, plan_.view(), static_cast<Vec4<Real>*>(nullptr), stream);
}

} // namespace farfield::cuda
