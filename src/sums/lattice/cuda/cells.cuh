// Cells of a periodic box on a GPU, and points in their order.
#pragma once

#include "sums/lattice/cuda/box_points.cuh"
#include "sums/lattice/cuda/sorted_cells.cuh"
#include "sums/lattice/near_cells.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace farfield::cuda {

/// Cells as kernels see them.
struct CellsOnGpu {
    int count[3] = {1, 1, 1};
    double width[3] = {1.0, 1.0, 1.0};

    CellsOnGpu() = default;
    explicit CellsOnGpu(const NearCells& cells)
        : count{static_cast<int>(cells.count[0]), static_cast<int>(cells.count[1]),
                static_cast<int>(cells.count[2])},
          width{cells.width[0], cells.width[1], cells.width[2]} {}
    [[nodiscard]] std::int64_t all() const { return std::int64_t{1} * count[0] * count[1] * count[2]; }
};

/// Sorts the points by cells, x fastest, and *writes* them in that order; w means nothing.
void sort_by_cells(const BoxPoints& points, const CellsOnGpu& cells, SortedCells& sorted,
                   DeviceArray<Vec4<double>>& at, cudaStream_t stream);

} // namespace farfield::cuda
