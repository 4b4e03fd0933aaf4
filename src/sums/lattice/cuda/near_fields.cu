#include "sums/lattice/cuda/near_fields.cuh"

#include "sums/lattice/cuda/cells.cuh"
#include "sums/lattice/near_tile.h"
#include "sums/tree/cuda/launch.cuh"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace farfield::cuda {
namespace {

constexpr int targets_of_a_block = 256;
/// How far sources are looked for, over a, as in near_fields.cpp.
constexpr double reach_of_nearest = 0.6;

struct NearestTask {
    BoxOnGpu box;
    CellsOnGpu cells;
    const Vec4<double>* sources; ///< in the order of cells
    const std::int32_t* start;
    BoxPoints targets;
    const std::int32_t* rows; ///< of targets; null: their numbers
    double limit, soft, a4;
    double* out; ///< by rows
};

/// The least squared distance to a source of places [first, last), but for those at the target.
__device__ double look(const NearestTask& task, const double (&x)[3], int first, int last, double least) {
    for (int j = first; j < last; ++j) {
        const auto s = task.sources[j];
        const double y[3] = {s.x, s.y, s.z};
        double square = 0.0;
        for (int k = 0; k < 3; ++k) {
            const double d = fabs(y[k] - x[k]);
            const double shorter = fmin(d, task.box.length[k] - d);
            square += shorter * shorter;
        }
        if (square > coincident_square) least = fmin(least, square);
    }
    return least;
}

__global__ void __launch_bounds__(targets_of_a_block)
    nearest_kernel(const __grid_constant__ NearestTask task) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= task.targets.count) return;
    const auto p = task.targets.at[i];
    const double x[3] = {p.x, p.y, p.z};
    const auto& count = task.cells.count;
    int home[3];
    for (int k = 0; k < 3; ++k) home[k] = min(static_cast<int>(x[k] / task.cells.width[k]), count[k] - 1);
    const bool is_inner = home[0] > 0 && home[0] + 1 < count[0]; // a row's cells follow each other
    double least = task.limit;
    for (int off = 0; off < 9; ++off) {
        const int y = (home[1] + off % 3 - 1 + count[1]) % count[1];
        const int z = (home[2] + off / 3 - 1 + count[2]) % count[2];
        const auto row = (static_cast<std::int64_t>(z) * count[1] + y) * count[0];
        if (is_inner) {
            const auto* const start = task.start + row + home[0] - 1;
            least = look(task, x, start[0], start[3], least);
            continue;
        }
        for (int step = -1; step <= 1; ++step) {
            const auto* const start = task.start + row + (home[0] + step + count[0]) % count[0];
            least = look(task, x, start[0], start[1], least);
        }
    }
    const double square = least + task.soft;
    const double own = fmax(1.0, task.a4 * (least < task.limit ? least / (square * square * square) : 0.0));
    task.out[task.rows != nullptr ? task.rows[i] : i] = own;
}

/// In the order of rows, whatever that of cells is.
__global__ void __launch_bounds__(targets_of_a_block)
    add_kernel(const double* values, int count, double* out) {
    __shared__ double shared[targets_of_a_block];
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    shared[threadIdx.x] = i < count ? values[i] : 0.0;
    for (unsigned half = targets_of_a_block / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = shared[0];
}

} // namespace

double NearFields::strength(const PeriodicFrame& frame, const BoxPoints& sources, const BoxPoints& targets,
                            bool self, cudaStream_t stream) {
    const int count = self ? sources.count : targets.count;
    if (sources.count == 0 || count == 0) return 1.0;
    const double a = std::cbrt(frame.volume() / sources.count);
    NearCells grid; // wider than on the CPU: what is nearest is the same, and starts of cells take less room
    for (std::size_t k = 0; k < 3; ++k) {
        grid.count[k] = std::max<std::int64_t>(1, static_cast<std::int64_t>(frame.length[k] / a));
        grid.width[k] = frame.length[k] / static_cast<double>(grid.count[k]);
    }
    const CellsOnGpu cells(grid);
    sort_by_cells(sources, cells, cells_, at_, stream);
    make_room(of_targets_, static_cast<std::size_t>(count));
    launch_over(count, stream, nearest_kernel,
                NearestTask{.box = BoxOnGpu(frame),
                            .cells = cells,
                            .sources = at_.data(),
                            .start = cells_.start(),
                            .targets = self ? BoxPoints{at_.data(), count} : targets,
                            .rows = self ? cells_.from() : nullptr,
                            .limit = reach_of_nearest * reach_of_nearest * a * a,
                            .soft = frame.softening * frame.softening,
                            .a4 = std::pow(a, 4),
                            .out = of_targets_.data()});
    const int blocks = (count + targets_of_a_block - 1) / targets_of_a_block;
    make_room(blocks_, static_cast<std::size_t>(blocks));
    add_kernel<<<static_cast<unsigned>(blocks), targets_of_a_block, 0, stream>>>(of_targets_.data(), count,
                                                                                 blocks_.data());
    check_launch("adding up fields of the nearest points");
    std::vector<double> of_blocks(static_cast<std::size_t>(blocks));
    copy(of_blocks.data(), blocks_.data(), of_blocks.size(), stream);
    check(cudaStreamSynchronize(stream), "waiting for the GPU");
    double sum = 0.0;
    for (const double of_block : of_blocks) sum += of_block;
    return std::sqrt(sum / count);
}

} // namespace farfield::cuda
