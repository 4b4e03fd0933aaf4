// Grids in space with more numbers than points. Points are sorted by columns of 8×8 cells along the last
// axis, and upwards in each. Sources are collected by the numbers of the grid, and values are taken from
// blocks of the grid in shared memory.
#pragma once

#include "sums/gauss/cuda/grid_passes.cuh"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace farfield::cuda {

inline constexpr int column_side = 8;       ///< cells of a column along the first two axes
inline constexpr int planes_of_a_walk = 48; ///< at most

/// Columns of a grid.
struct GridColumns {
    std::int32_t count[2] = {}; ///< along the first two axes
    std::int32_t planes = 0;    ///< cells along the last axis

    GridColumns() = default;
    explicit GridColumns(const GridPlacing& placing)
        : count{(placing.length[0] + column_side - 1) / column_side,
                (placing.length[1] + column_side - 1) / column_side},
          planes(placing.length[2]) {}
    /// Planes of all columns.
    [[nodiscard]] FF_HD std::int32_t total() const { return count[0] * count[1] * planes; }
    [[nodiscard]] FF_HD std::int32_t plane(std::int32_t x, std::int32_t y, std::int32_t z) const {
        return (y * count[0] + x) * planes + z;
    }
};

/// Where a point's cell is in its column: GridPoint::place.
struct CellInColumn {
    FF_HD static std::int32_t packed(std::int32_t x, std::int32_t y, std::int32_t z) {
        return x % column_side | (y % column_side) << 4 | z << 8;
    }
    FF_HD static std::int32_t x(std::int32_t place) { return place & 15; }
    FF_HD static std::int32_t y(std::int32_t place) { return place >> 4 & 15; }
    FF_HD static std::int32_t z(std::int32_t place) { return place >> 8; }
};

/// Points in the order of columns.
template <class Real>
struct PointsInColumns {
    const GridPoint<Real>* points = nullptr;
    const std::int32_t* starts = nullptr; ///< of each plane of the columns, and the end
    GridColumns columns;
};

/// Where points of each plane of the columns begin, from their sorted keys: total() + 1 numbers.
void find_plane_starts(const std::uint64_t* keys, int count, const GridColumns& columns, std::int32_t* starts,
                       cudaStream_t stream);
/// The most points that a warp meets as it walks up a column. Waits for it. @param most  one number
int most_of_a_walk(const std::int32_t* starts, const GridColumns& columns, std::int32_t* most,
                   cudaStream_t stream);

/// Writes the grid: each number collects from the points about it, in an order that the points alone decide.
template <class Real>
struct CollectTask {
    PointsInColumns<Real> sources;
    const Real* strengths = nullptr;
    const GridWindow* window = nullptr;
    GridPlacing placing;
    Real* grid = nullptr;
};
template <class Real>
void collect_points(const CollectTask<Real>& task, cudaStream_t stream);

/// Whether the GPU that is current has the shared memory that values of a window of this width take.
template <class Real>
bool has_room_for_columns(int width);

/// As take_values of points that are sorted otherwise. @param task  whose points are those in columns
template <class Real>
void take_values_of_columns(const ValueTask<Real>& task, const PointsInColumns<Real>& targets,
                            cudaStream_t stream);

} // namespace farfield::cuda
