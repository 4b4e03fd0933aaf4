#include "sums/lattice/cuda/cells.cuh"

#include "sums/tree/cuda/launch.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace farfield::cuda {
namespace {

__device__ int thread_number() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

__global__ void cell_kernel(BoxPoints points, CellsOnGpu cells, std::uint32_t* out) {
    const int i = thread_number();
    if (i >= points.count) return;
    const auto p = points.at[i];
    const double x[3] = {p.x, p.y, p.z};
    std::int64_t cell = 0;
    for (int k = 2; k >= 0; --k)
        cell = cell * cells.count[k] + min(static_cast<int>(x[k] / cells.width[k]), cells.count[k] - 1);
    out[i] = static_cast<std::uint32_t>(cell);
}

__global__ void place_kernel(const Vec4<double>* points, const std::int32_t* from, int count,
                             Vec4<double>* out) {
    const int i = thread_number();
    if (i < count) out[i] = points[from[i]];
}

} // namespace

void sort_by_cells(const BoxPoints& points, const CellsOnGpu& cells, SortedCells& sorted,
                   DeviceArray<Vec4<double>>& at, cudaStream_t stream) {
    launch_over(points.count, stream, cell_kernel, points, cells, sorted.cells_of(points.count));
    sorted.sort(points.count, cells.all(), stream);
    make_room(at, static_cast<std::size_t>(std::max(points.count, 1)));
    launch_over(points.count, stream, place_kernel, points.at, sorted.from(), points.count, at.data());
}

} // namespace farfield::cuda
