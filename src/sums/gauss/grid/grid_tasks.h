// What crosses into the loops over grids, compiled once for each instruction set: raw pointers.
#pragma once

#include "sums/kernels/exact.h"

#include <cstdint>

namespace farfield {

/// Where points lie on a grid, and their windows (window.h).
struct GridPlaces {
    int dimension = 1;
    int width = 0;
    const double* value = nullptr;
    const double* slope = nullptr;
    const double* x[most_dimensions] = {}; ///< coordinates in the frame
    double inverse_spacing = 1.0;
    double spacing[2] = {1.0, 0.0};            ///< h as a sum; products of the first with indices are exact
    std::int64_t base[most_dimensions] = {};   ///< index of the grid's first point along each axis
    std::int64_t stride[most_dimensions] = {}; ///< from one grid point to the next; of the first axis 1
    /// w^(d−2) places of layers behind a point's first: taps of the third and later axes, the third fastest.
    const std::int64_t* layers = nullptr;
    std::int64_t layer_count = 1;
    double* scratch = nullptr; ///< room for d·layer_count numbers
};

/// Adds q φ of points [begin, end) to a part of the grid.
struct GridSpreadTask {
    GridPlaces places;
    const double* strengths = nullptr;
    std::int64_t begin = 0, end = 0;
    double* grid = nullptr; ///< of the base
};

/// Stores values and, if wanted, gradients at points [begin, end).
struct GridValueTask {
    GridPlaces places;
    std::int64_t begin = 0, end = 0;
    const double* grid = nullptr;
    double* potential = nullptr;
    double* gradient[most_dimensions] = {};
};

/// Lines along an axis, folded in place with a symmetric row of taps; beyond their ends there is 0. Either a
/// line of neighbours in memory (stride 1, lines = 1), or `lines` ≤ grid_lines side by side.
struct GridFoldTask {
    double* first = nullptr;
    std::int64_t stride = 1, length = 0, lines = 1;
    const double* taps = nullptr;
    std::int64_t reach = 0;
    double* scratch = nullptr; ///< room for (length + 2·reach)·grid_lines numbers and grid_lines more
};
inline constexpr std::int64_t grid_lines = 64;

} // namespace farfield

/// One for each instruction set (cmake/farfield_isa.cmake).
#define FF_DECLARE_GRID(isa)                                                                                 \
    extern "C" void ff_grid_spread_##isa(const farfield::GridSpreadTask* task);                              \
    extern "C" void ff_grid_value_##isa(const farfield::GridValueTask* task);                                \
    extern "C" void ff_grid_fold_##isa(const farfield::GridFoldTask* task)
FF_DECLARE_GRID(scalar);
FF_DECLARE_GRID(sse42);
FF_DECLARE_GRID(avx2);
FF_DECLARE_GRID(avx512);
#undef FF_DECLARE_GRID
