#include "sums/pme/cuda/mesh_on_gpu.cuh"

#include "sums/pme/influence.h"
#include "sums/tree/cuda/launch.cuh"

#include <cub/device/device_scan.cuh>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace farfield::cuda {
namespace {

__device__ int thread_number() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

__device__ SplinePlace place_on(const MeshShape& shape, const Vec4<double>& p, int axis) {
    const double x = axis == 0 ? p.x : axis == 1 ? p.y : p.z;
    return spline_place(x, shape.length[axis], shape.mesh[axis], shape.order);
}

__global__ void bin_kernel(BoxPoints points, MeshShape shape, std::uint32_t* out) {
    const int i = thread_number();
    if (i >= points.count) return;
    const auto p = points.at[i];
    std::int64_t bin = 0;
    for (int k = 2; k >= 0; --k) bin = bin * shape.bins[k] + place_on(shape, p, k).cell / bin_side;
    out[i] = static_cast<std::uint32_t>(bin);
}

__global__ void mesh_point_kernel(BoxPoints points, MeshShape shape, const std::int32_t* from,
                                  MeshPoint* out) {
    const int i = thread_number();
    if (i >= points.count) return;
    MeshPoint point;
    point.row = from[i];
    point.place = 0;
    const auto p = points.at[point.row];
    for (int k = 0; k < 3; ++k) {
        const auto place = place_on(shape, p, k);
        point.fraction[k] = place.fraction;
        point.place |= place.cell % bin_side << 4 * k;
    }
    out[i] = point;
}

/// *Writes* 0 behind the last bin.
__global__ void count_chunks_kernel(const std::int32_t* start, int bins, std::int32_t* chunks,
                                    std::int32_t* most) {
    const int bin = thread_number();
    if (bin > bins) return;
    const int points = bin < bins ? start[bin + 1] - start[bin] : 0;
    chunks[bin] = (points + points_of_a_chunk - 1) / points_of_a_chunk;
    if (points > 0) atomicMax(most, points);
}

__global__ void make_chunks_kernel(const std::int32_t* start, const std::int32_t* first_chunks, int bins,
                                   MeshChunk* out) {
    const int bin = thread_number();
    if (bin >= bins) return;
    int chunk = first_chunks[bin];
    for (int first = start[bin]; first < start[bin + 1]; first += points_of_a_chunk)
        out[chunk++] = {bin, first, min(points_of_a_chunk, start[bin + 1] - first)};
}

/// Whole numbers become doubles where they are.
__global__ void to_doubles_kernel(double* mesh, std::int64_t count) {
    const auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) mesh[i] = static_cast<double>(__double_as_longlong(mesh[i]));
}

struct InfluenceTask {
    double2* spectrum;
    const double* influence;
    int n[3];
    double unit;
};

__global__ void influence_kernel(const InfluenceTask task) {
    const int nx = task.n[0] / 2 + 1, ny = task.n[1], nz = task.n[2];
    const auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= static_cast<std::int64_t>(nx) * ny * nz) return;
    const int x = static_cast<int>(i % nx);
    const auto row = i / nx;
    const int y = static_cast<int>(row % ny), z = static_cast<int>(row / ny);
    const auto at = (static_cast<std::int64_t>(min(z, nz - z)) * (ny / 2 + 1) + min(y, ny - y)) * nx + x;
    const double factor = task.unit * task.influence[at];
    auto& wave = task.spectrum[i];
    wave = {factor * wave.x, factor * wave.y};
}

template <class Numbers>
void bring(DeviceArray<double>& to, const Numbers& from, cudaStream_t stream) {
    to = DeviceArray<double>(from.size());
    copy(to.data(), from.data(), from.size(), stream);
    check(cudaStreamSynchronize(stream), "waiting for the GPU");
}

MeshShape shape_of(const PeriodicFrame& frame, const MeshChoice& choice) {
    MeshShape out;
    for (int k = 0; k < 3; ++k) {
        const auto axis = static_cast<std::size_t>(k);
        out.length[k] = frame.length[axis];
        out.mesh[k] = choice.mesh[axis];
        out.bins[k] = (choice.mesh[axis] + bin_side - 1) / bin_side;
    }
    out.order = choice.order;
    return out;
}

} // namespace

MeshOnGpu::MeshOnGpu(const PeriodicFrame& frame, const MeshChoice& choice, int threads, cudaStream_t stream)
    : shape_(shape_of(frame, choice)), transform_(choice.mesh),
      mesh_(static_cast<std::size_t>(shape_.points())), spectrum_(2 * transform_.waves()), found_(2) {
    const Splines splines(choice.order);
    bring(values_, splines.values, stream);
    bring(slopes_, splines.slopes, stream);
    bring(influence_, influence_of(frame, choice.splitting, choice.mesh, choice.order, threads), stream);
}

void MeshOnGpu::set_points(const BoxPoints& sources, const BoxTargets& targets, cudaStream_t stream) {
    targets_are_all_ = targets.are_all_sources();
    sort(sources_, sources, stream);
    if (!targets_are_all_) sort(targets_, targets.points, stream);
}

void MeshOnGpu::sort(Points& to, const BoxPoints& points, cudaStream_t stream) {
    const auto bins = shape_.all_bins();
    launch_over(points.count, stream, bin_kernel, points, shape_, to.bins.cells_of(points.count));
    to.bins.sort(points.count, bins, stream);
    make_room(to.at, static_cast<std::size_t>(std::max(points.count, 1)));
    launch_over(points.count, stream, mesh_point_kernel, points, shape_, to.bins.from(), to.at.data());
    const auto places = static_cast<std::size_t>(bins) + 1;
    make_room(to.chunks_of_bins, places);
    make_room(to.first_chunks, places);
    check(cudaMemsetAsync(found_.data(), 0, found_.bytes(), stream), "clearing counters");
    launch_over(bins + 1, stream, count_chunks_kernel, to.bins.start(), static_cast<int>(bins),
                to.chunks_of_bins.data(), found_.data() + 1);
    std::size_t bytes = 0;
    const auto scan = [&](void* memory) {
        check(cub::DeviceScan::ExclusiveSum(memory, bytes, to.chunks_of_bins.data(), to.first_chunks.data(),
                                            static_cast<int>(places), stream),
              "counting points");
    };
    scan(nullptr);
    scan(to.workspace.reserve(bytes));
    std::int32_t chunks = 0;
    copy(&chunks, to.first_chunks.data() + bins, 1, stream);
    copy(&to.most, found_.data() + 1, 1, stream);
    check(cudaStreamSynchronize(stream), "waiting for the GPU");
    to.chunk_count = chunks;
    make_room(to.chunks, static_cast<std::size_t>(std::max(chunks, 1)));
    launch_over(bins, stream, make_chunks_kernel, to.bins.start(), to.first_chunks.data(),
                static_cast<int>(bins), to.chunks.data());
}

// No weight is more than 1, and the p cells that reach a mesh point along an axis lie in few bins.
int MeshOnGpu::unit_exponent(const Strengths& strengths) const {
    constexpr int digits = 61, most = 1000;
    double bins = 1.0;
    for (const int along : shape_.bins) bins *= std::min(along, (shape_.order - 2) / bin_side + 3);
    const double bound = std::min(strengths.magnitude, bins * sources_.most * strengths.largest);
    if (!(bound > 0.0)) return 0;
    return std::clamp(digits - 1 - std::ilogb(bound), -most, most);
}

void MeshOnGpu::add(const Strengths& strengths, bool with_field, Vec4<double>* sums, PassTimer& timer,
                    const std::function<void()>& stop, cudaStream_t stream) {
    stop();
    const int exponent = unit_exponent(strengths);
    const auto points = shape_.points();
    check(cudaMemsetAsync(mesh_.data(), 0, static_cast<std::size_t>(points) * sizeof(double), stream),
          "clearing a mesh");
    spread({.shape = shape_,
            .points = sources_.at.data(),
            .chunks = sources_.chunks.data(),
            .chunk_count = sources_.chunk_count,
            .values = values_.data(),
            .strengths = strengths.values,
            .unit = std::ldexp(1.0, exponent),
            .mesh = reinterpret_cast<unsigned long long*>(mesh_.data())},
           stream);
    launch_over(points, stream, to_doubles_kernel, mesh_.data(), points);
    timer.mark("spreading", stream);
    stop();
    transform_.forward(mesh_.data(), spectrum_.data(), stream);
    launch_over(static_cast<std::int64_t>(transform_.waves()), stream, influence_kernel,
                InfluenceTask{.spectrum = reinterpret_cast<double2*>(spectrum_.data()),
                              .influence = influence_.data(),
                              .n = {shape_.mesh[0], shape_.mesh[1], shape_.mesh[2]},
                              .unit = std::ldexp(1.0, -exponent)});
    transform_.backward(spectrum_.data(), mesh_.data(), stream);
    timer.mark("transforms", stream);
    stop();
    const auto& targets = targets_are_all_ ? sources_ : targets_;
    gather({.shape = shape_,
            .points = targets.at.data(),
            .chunks = targets.chunks.data(),
            .chunk_count = targets.chunk_count,
            .values = values_.data(),
            .slopes = slopes_.data(),
            .mesh = mesh_.data(),
            .sums = sums},
           with_field, stream);
    timer.mark("gathering", stream);
}

void MeshOnGpu::describe(LatticeReport& report, double /*scale*/) const {
    report.mesh = {shape_.mesh[0], shape_.mesh[1], shape_.mesh[2]};
    report.order = shape_.order;
}

} // namespace farfield::cuda
