// DevicePasses, included by one source for each type of number.
#pragma once

#include "sums/fmm/cuda/device_far_impl.cuh"
#include "sums/fmm/cuda/device_passes.cuh"
#include "sums/tree/cuda/launch.cuh"
#include "sums/tree/cuda/leaf_points.cuh"

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

} // namespace detail

template <class Real>
void DevicePasses<Real>::prepare(const DeviceTree& tree, const PlainFar<Real>& far, bool mends,
                                 cudaStream_t stream) {
    mends_ = mends;
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
    const int count = tree.targets().count;
    plan_.queue(self ? source_ranges_.data() : target_ranges_.data(), tree.leaf_count(), count,
                block_shape(static_cast<double>(count) / std::max(1, tree.leaf_count()), sizeof(Real)),
                stream);
    harmonics_.prepare(tree, far.harmonics, stream);
    polynomials_.prepare(tree, far.polynomials, stream);
    if (has_far_field()) tiles_.make(tree, stream);
}

template <class Real>
void DevicePasses<Real>::set_strengths(DeviceTree& tree, const double* strengths, int exponent,
                                       cudaStream_t stream) {
    launch_over(tree.sources().count, stream, detail::strength_kernel<Real>, strengths,
                tree.sources().from.data(), tree.sources().count, exponent, tree.weighted_sources(),
                sources_.data());
}

template <class Real>
void DevicePasses<Real>::set_dipoles(const DeviceTree& tree, const double* dipoles, int exponent,
                                     cudaStream_t stream) {
    has_dipoles_ = dipoles != nullptr;
    if (!has_dipoles_) return;
    const auto n = static_cast<std::size_t>(tree.sources().count);
    make_room(dipoles_, n);
    make_room(near_dipoles_, n);
    launch_over(tree.sources().count, stream, detail::dipole_kernel<Real>, dipoles,
                tree.sources().from.data(), tree.sources().count, exponent, dipoles_.data(),
                near_dipoles_.data());
}

template <class Real>
void DevicePasses<Real>::run(const DeviceTree& tree, double softening, int outputs,
                             const PassSums<Real>& sums, const Done& done, cudaStream_t stream) {
    if (has_far_field()) { // first: the host waits for the near field's plan
        ready_.record(stream);
        ready_.hold(far_stream());
        done({}, far_stream());
        run_far(tree, outputs, sums, done, far_stream());
        far_done_.record(far_stream());
    }
    try {
        run_near(tree, softening, outputs, sums, stream);
    } catch (...) { // what the far field works on may be given up now
        if (has_far_field()) cudaStreamSynchronize(far_stream());
        throw;
    }
    done("P2P", stream);
    if (has_far_field()) far_done_.hold(stream);
}

template <class Real>
void DevicePasses<Real>::run_near(const DeviceTree& tree, double softening, int outputs,
                                  const PassSums<Real>& sums, cudaStream_t stream) {
    plan_.finish(stream);
    const bool self = tree.view().self;
    BlockTask<Real> task;
    task.targets = self ? sources_.data() : targets_.data();
    task.sources = sources_.data();
    task.target_blocks = self ? source_ranges_.data() : target_ranges_.data();
    task.source_blocks = source_ranges_.data();
    task.first = tree.direct().first;
    task.last = tree.direct().last;
    task.partners = tree.direct().partners;
    task.target_centres = self ? centres_.data() : target_centres_.data();
    task.source_centres = centres_.data();
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

template <class Real>
void DevicePasses<Real>::run_far(const DeviceTree& tree, int outputs, const PassSums<Real>& sums,
                                 const Done& done, cudaStream_t stream) {
    const Vec4<double>* const dipoles = has_dipoles_ ? dipoles_.data() : nullptr;
    FarSums far{(outputs & field_and_potential) != 0 ? sums.far : nullptr,
                (outputs & hessian_too) != 0 ? sums.far_hessians : nullptr, (outputs & field_only) != 0,
                false};
    if (!harmonics_.is_empty()) {
        harmonics_.run(tree, tiles_, dipoles, far, done, stream);
        far.adds = true;
    }
    if (polynomials_.is_empty()) return;
    const auto told_at_the_end = [](std::string_view, cudaStream_t) {};
    polynomials_.run(tree, tiles_, dipoles, far, told_at_the_end, stream);
    done("softening", stream);
}

} // namespace farfield::cuda
