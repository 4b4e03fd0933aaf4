#include "sums/lattice/cuda/near_images.cuh"

#include "sums/lattice/complementary_error.h"
#include "sums/lattice/near_tile.h"
#include "sums/tree/cuda/launch.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace farfield::cuda {
namespace {

constexpr unsigned all_lanes = ~0U;
constexpr int warps_of_a_block = 4;
/// Targets of a launch: between launches a sum can be given up.
constexpr int targets_of_a_launch = 1 << 22;

/// Counters that blocks share out among themselves, so that few wait for one; then those of coincidences.
constexpr int pair_counters = 64, coincident_counter = pair_counters, first_pair = pair_counters + 1,
              counters = pair_counters + 2;

__device__ int thread_number() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

__global__ void strength_kernel(const double* strengths, const std::int32_t* from, int count,
                                Vec4<double>* out) {
    const int i = thread_number();
    if (i < count) out[i].w = strengths[from[i]];
}

struct NearTask {
    BoxOnGpu box;
    CellsOnGpu cells;
    double per_width[3]; ///< cells of a unit of length
    const Vec4<double>* sources;
    const std::int32_t *source_start, *source_from;
    const Vec4<double>* targets;
    const std::int32_t* target_from;
    int first, last;  ///< places of targets
    int first_source; ///< BoxTargets
    double alpha, cutoff, cutoff2, softening2, at_zero;
    Vec4<double>* sums;
    unsigned long long* counters;
};

/// An image within the cut-off: target minus image, and the source's strength.
struct alignas(16) Near {
    double d[3], q;
};

/// Images that wait for a lane.
struct Queue {
    Near near[64];
    std::int32_t source[64];
};

/// What a lane has of a target's sums.
struct LaneSums {
    double potential = 0.0, field[3] = {0.0, 0.0, 0.0};
    double met = 0.0; ///< Σ q of coincident images
};

/// See near_loop.cpp.
__device__ void add_near(const NearTask& task, int target, const Near& near, std::int32_t source,
                         LaneSums& sums) {
    constexpr double two_over_root_pi = 1.1283791670955125739;
    const double r2 = fma(near.d[0], near.d[0], fma(near.d[1], near.d[1], near.d[2] * near.d[2]));
    if (task.softening2 <= coincident_square && r2 <= coincident_square) {
        sums.met += near.q;
        atomicAdd(task.counters + coincident_counter, 1ULL);
        atomicMin(task.counters + first_pair, static_cast<unsigned long long>(task.target_from[target])
                                                      << 32 |
                                                  static_cast<unsigned long long>(task.source_from[source]));
        return;
    }
    const double square = r2 + task.softening2;
    const double inverse = rsqrt(square);
    const double x = task.alpha * square * inverse;
    const double gauss = exp(-x * x);
    const double potential = inverse * gauss * scaled_complementary_error_of(__drcp_rn(3.0 + x));
    const double weighted = near.q * potential;
    sums.potential += weighted;
    const double weight = fma(near.q * task.alpha * two_over_root_pi, gauss, weighted) * (inverse * inverse);
    for (int k = 0; k < 3; ++k) sums.field[k] = fma(weight, near.d[k], sums.field[k]);
}

__device__ double sum_of_lanes(double value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(all_lanes, value, step);
    return value;
}

__device__ int floor_division(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

/// Cells low to high of an axis that lie within `reach` of x, images counted on; a rounding more.
struct CellRange {
    int low, high;
    [[nodiscard]] __device__ int size() const { return high - low + 1; }
};
__device__ CellRange cells_within(double x, double reach, double per_width) {
    const double more = reach + 1e-12;
    return {__double2int_rd((x - more) * per_width), __double2int_rd((x + more) * per_width)};
}

/// How far x lies from a cell, a rounding less.
__device__ double gap(double x, int cell, double width) {
    return fmax(fmax(cell * width - x, x - (cell + 1) * width) - 1e-12, 0.0);
}

/// The sources of a row of cells in one image of the box, as seen from that image.
struct Run {
    double target[3];
    int first, count;
};

/// Rows of cells around a target, each as often as images of the box lie along it.
struct RowsAround {
    CellRange y, z;
    int low_image, images; ///< along x

    __device__ RowsAround(const NearTask& task, const Vec4<double>& t)
        : y(cells_within(t.y, task.cutoff, task.per_width[1])),
          z(cells_within(t.z, task.cutoff, task.per_width[2])) {
        const auto x = cells_within(t.x, task.cutoff, task.per_width[0]);
        low_image = floor_division(x.low, task.cells.count[0]);
        images = floor_division(x.high, task.cells.count[0]) - low_image + 1;
    }
    [[nodiscard]] __device__ int count() const { return y.size() * z.size() * images; }

    [[nodiscard]] __device__ Run run(const NearTask& task, const Vec4<double>& t, int number) const {
        Run out{{0.0, 0.0, 0.0}, 0, 0};
        const int row = number / images, image_x = low_image + number - row * images;
        const int of_z = row / y.size();
        const int at_z = z.low + of_z, at_y = y.low + row - of_z * y.size();
        const double gap_y = gap(t.y, at_y, task.cells.width[1]);
        const double gap_z = gap(t.z, at_z, task.cells.width[2]);
        const double rest = task.cutoff2 - gap_z * gap_z - gap_y * gap_y;
        if (rest < 0.0) return out;
        const int nx = task.cells.count[0], ny = task.cells.count[1], nz = task.cells.count[2];
        const auto x = cells_within(t.x, sqrt(rest), task.per_width[0]);
        const int low = max(x.low, image_x * nx), high = min(x.high, image_x * nx + nx - 1);
        if (low > high) return out;
        const int image_y = floor_division(at_y, ny), image_z = floor_division(at_z, nz);
        const auto cell = (static_cast<std::int64_t>(at_z - image_z * nz) * ny + (at_y - image_y * ny)) * nx;
        out.first = task.source_start[cell + low - image_x * nx];
        out.count = task.source_start[cell + high - image_x * nx + 1] - out.first;
        out.target[0] = t.x - image_x * task.box.length[0];
        out.target[1] = t.y - image_y * task.box.length[1];
        out.target[2] = t.z - image_z * task.box.length[2];
        return out;
    }
};

/// What a warp has in shared memory.
struct WarpMemory {
    Queue queue;
    double target[3][32];   ///< of runs
    std::int32_t end[32];   ///< of runs, one behind the other
    std::int32_t shift[32]; ///< from a place there to that among the sources
};

/// Of 32 runs the one that place lies in: the first that ends behind it.
__device__ int run_of(const std::int32_t* end, int place) {
    int run = 0;
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        if (end[run + step - 1] <= place) run += step;
    return run;
}

__device__ int sum_up_to_lane(int value, int lane) {
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const int before = __shfl_up_sync(all_lanes, value, step);
        if (lane >= step) value += before;
    }
    return value;
}

__global__ void __launch_bounds__(32 * warps_of_a_block) near_kernel(const __grid_constant__ NearTask task) {
    __shared__ WarpMemory memory[warps_of_a_block];
    __shared__ unsigned long long looked_at[warps_of_a_block];
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    const int target = task.first + static_cast<int>(blockIdx.x) * warps_of_a_block + warp;
    unsigned long long pairs = 0;
    if (target < task.last) {
        auto& own = memory[warp];
        auto& queue = own.queue;
        const auto t = task.targets[target];
        const int target_row = task.target_from[target];
        const bool is_source = task.first_source != BoxTargets::not_sources;
        const RowsAround rows(task, t);
        const int row_count = rows.count();
        LaneSums sums;
        int waiting = 0;
        for (int first_row = 0; first_row < row_count; first_row += 32) {
            const auto run = first_row + lane < row_count ? rows.run(task, t, first_row + lane)
                                                          : Run{{0.0, 0.0, 0.0}, 0, 0};
            const int end = sum_up_to_lane(run.count, lane);
            const int images = __shfl_sync(all_lanes, end, 31);
            pairs += static_cast<unsigned long long>(images);
            __syncwarp();
            for (int k = 0; k < 3; ++k) own.target[k][lane] = run.target[k];
            own.end[lane] = end;
            own.shift[lane] = run.first - (end - run.count);
            __syncwarp();
            for (int base = 0; base < images; base += 32) {
                const int place = base + lane;
                bool near = false;
                Near found;
                int j = 0;
                if (place < images) {
                    const int from = run_of(own.end, place);
                    j = own.shift[from] + place;
                    const auto s = task.sources[j];
                    found = {
                        {own.target[0][from] - s.x, own.target[1][from] - s.y, own.target[2][from] - s.z},
                        s.w};
                    const double r2 =
                        fma(found.d[0], found.d[0], fma(found.d[1], found.d[1], found.d[2] * found.d[2]));
                    // itself, but none of its images, is at 0 exactly
                    near = r2 <= task.cutoff2 &&
                           !(r2 == 0.0 && is_source && task.source_from[j] == task.first_source + target_row);
                }
                const unsigned chosen = __ballot_sync(all_lanes, near);
                if (near) {
                    const int at = waiting + __popc(chosen & ((1U << lane) - 1U));
                    queue.near[at] = found;
                    queue.source[at] = j;
                }
                waiting += __popc(chosen);
                if (waiting < 32) continue;
                __syncwarp();
                add_near(task, target, queue.near[lane], queue.source[lane], sums);
                waiting -= 32;
                __syncwarp();
                if (lane < waiting) {
                    queue.near[lane] = queue.near[32 + lane];
                    queue.source[lane] = queue.source[32 + lane];
                }
                __syncwarp();
            }
        }
        __syncwarp();
        if (lane < waiting) add_near(task, target, queue.near[lane], queue.source[lane], sums);
        __syncwarp();
        for (double& component : sums.field) component = sum_of_lanes(component);
        sums.potential = sum_of_lanes(sums.potential);
        sums.met = sum_of_lanes(sums.met);
        if (lane == 0)
            task.sums[target_row] = {sums.field[0], sums.field[1], sums.field[2],
                                     sums.potential - task.at_zero * ((is_source ? t.w : 0.0) + sums.met)};
    }
    if (lane == 0) looked_at[warp] = pairs;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < warps_of_a_block; ++w) pairs += looked_at[w];
        if (pairs > 0) atomicAdd(task.counters + blockIdx.x % pair_counters, pairs);
    }
}

} // namespace

NearImages::NearImages(const PeriodicFrame& frame, const Splitting& splitting, double cutoff)
    : frame_(frame), splitting_(splitting), cutoff_(cutoff), counters_(counters) {}

void NearImages::set_points(const BoxPoints& sources, const BoxTargets& targets, cudaStream_t stream) {
    wanted_ = targets;
    source_count_ = sources.count;
    cells_ = CellsOnGpu(near_cells(frame_, cutoff_, sources.count));
    const auto sort = [&](Points& to, const BoxPoints& points) {
        sort_by_cells(points, cells_, to.cells, to.at, stream);
    };
    sort(sources_, sources);
    if (!targets.are_all_sources()) sort(targets_, targets.points);
}

void NearImages::compute(const double* strengths, Vec4<double>* sums, const std::function<void()>& stop,
                         cudaStream_t stream) {
    const auto place = [&](Points& to, const double* from, int count) {
        launch_over(count, stream, strength_kernel, from, to.cells.from(), count, to.at.data());
    };
    const int target_count = wanted_.points.count;
    place(sources_, strengths, source_count_);
    if (wanted_.are_sources() && !wanted_.are_all_sources())
        place(targets_, strengths + wanted_.first_source, target_count);
    check(cudaMemsetAsync(counters_.data(), 0, counters_.bytes(), stream), "clearing counters");
    check(cudaMemsetAsync(counters_.data() + first_pair, 0xff, sizeof(unsigned long long), stream),
          "clearing counters");
    const auto& targets = wanted_.are_all_sources() ? sources_ : targets_;
    NearTask task{.box = BoxOnGpu(frame_),
                  .cells = cells_,
                  .per_width = {1.0 / cells_.width[0], 1.0 / cells_.width[1], 1.0 / cells_.width[2]},
                  .sources = sources_.at.data(),
                  .source_start = sources_.cells.start(),
                  .source_from = sources_.cells.from(),
                  .targets = targets.at.data(),
                  .target_from = targets.cells.from(),
                  .first = 0,
                  .last = 0,
                  .first_source = wanted_.first_source,
                  .alpha = splitting_.alpha,
                  .cutoff = cutoff_,
                  .cutoff2 = cutoff_ * cutoff_,
                  .softening2 = frame_.softening * frame_.softening,
                  .at_zero = splitting_.smooth_part_at_zero(),
                  .sums = sums,
                  .counters = counters_.data()};
    while (task.last < target_count) {
        if (task.last > 0) {
            check(cudaStreamSynchronize(stream), "waiting for the GPU");
            stop();
        }
        task.first = task.last;
        task.last += std::min(targets_of_a_launch, target_count - task.first);
        const auto blocks = (task.last - task.first + warps_of_a_block - 1) / warps_of_a_block;
        near_kernel<<<static_cast<unsigned>(blocks), 32 * warps_of_a_block, 0, stream>>>(task);
        check_launch("near images");
    }
}

NearImages::Counts NearImages::counts(cudaStream_t stream) {
    std::array<unsigned long long, counters> found{};
    copy(found.data(), counters_.data(), counters, stream);
    check(cudaStreamSynchronize(stream), "waiting for the GPU");
    Counts out;
    for (int k = 0; k < pair_counters; ++k)
        out.pairs += static_cast<std::int64_t>(found[static_cast<std::size_t>(k)]);
    out.coincident = static_cast<std::int64_t>(found[coincident_counter]);
    out.target = static_cast<std::int64_t>(found[first_pair] >> 32);
    out.source = static_cast<std::int64_t>(found[first_pair] & 0xffffffffULL);
    return out;
}

} // namespace farfield::cuda
