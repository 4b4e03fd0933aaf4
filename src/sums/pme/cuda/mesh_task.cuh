// Points and meshes as kernels see them. The mesh is cut into bins of 8³ cells; the last of an axis may have
// fewer. A bin's points reach a tile of bin_side + p − 1 mesh points along each axis, whose mesh point j is
// mesh point 8·bin + j − (⌊p/2⌋ − 1) of the whole, in the periodic order. The points of a bin are cut into
// chunks, each the work of a block.
#pragma once

#include "sums/lattice/cuda/box_points.cuh"
#include "sums/pme/splines.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace farfield::cuda {

constexpr int bin_side = 8;
constexpr int points_of_a_chunk = 256;

struct MeshShape {
    double length[3] = {1.0, 1.0, 1.0}; ///< of the box
    int mesh[3] = {}, bins[3] = {};
    int order = 0;

    [[nodiscard]] std::int64_t all_bins() const { return std::int64_t{1} * bins[0] * bins[1] * bins[2]; }
    [[nodiscard]] std::int64_t points() const { return std::int64_t{1} * mesh[0] * mesh[1] * mesh[2]; }
    /// Of a bin of all its first mesh point along each axis, in the periodic order not yet wrapped.
    FF_HD void first_of_tile(std::int32_t bin, int (&first)[3]) const {
        first[0] = bin % bins[0] * bin_side - (order / 2 - 1);
        first[1] = bin / bins[0] % bins[1] * bin_side - (order / 2 - 1);
        first[2] = bin / (bins[0] * bins[1]) * bin_side - (order / 2 - 1);
    }
};

/// A point in the order of bins.
struct alignas(16) MeshPoint {
    double fraction[3];
    std::int32_t place; ///< the cell in its bin: x + 16 y + 256 z
    std::int32_t row;   ///< the caller's

    [[nodiscard]] FF_HD int cell(int axis) const { return place >> (4 * axis) & 15; }
};

struct MeshChunk {
    std::int32_t bin, first, count;
};

struct SpreadTask {
    MeshShape shape;
    const MeshPoint* points;
    const MeshChunk* chunks;
    std::int64_t chunk_count;
    const double* values; ///< Splines::values
    const double* strengths;
    double unit; ///< of the whole numbers that are summed
    unsigned long long* mesh;
};
/// *Adds* whole numbers, so that chunks may come in any order.
void spread(const SpreadTask& task, cudaStream_t stream);

struct GatherTask {
    MeshShape shape;
    const MeshPoint* points;
    const MeshChunk* chunks;
    std::int64_t chunk_count;
    const double *values, *slopes;
    const double* mesh;
    Vec4<double>* sums;
};
/// *Adds* to the sums of the points' rows; without the field to potentials alone.
void gather(const GatherTask& task, bool with_field, cudaStream_t stream);

} // namespace farfield::cuda
