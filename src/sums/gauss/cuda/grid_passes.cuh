// The passes of a sum of Gaussians on a grid of a GPU: spread, fold, take values (gauss/grid/rules.h has the
// equations). Grids are indexed [last axis] … [first axis], the first fastest.
#pragma once

#include "sums/gauss/grid/placing.h"
#include "sums/gauss/grid/widths.h"
#include "sums/gauss/grid/window.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace farfield::cuda {

/// A point seen from the grid points that it touches.
template <class Real>
struct alignas(16) GridPoint {
    Real u[3];          ///< of window.h
    std::int32_t place; ///< in the grid, of the first of them
};

/// Points sorted by columns of cells along the last axis, upwards in each.
template <class Real>
struct GridPointsOnGpu {
    const GridPoint<Real>* points = nullptr;
    int count = 0;
};

/// Adds q φ to the grid, as whole multiples of 2^−exponent: sums of whole numbers do not depend on their
/// order. @pre the grid is 0
template <class Real>
struct SpreadTask {
    GridPointsOnGpu<Real> sources;
    const Real* strengths = nullptr; ///< in the order of the points
    const GridWindow* window = nullptr;
    GridPlacing placing;
    int exponent = 0;
    unsigned long long* grid = nullptr;
};
template <class Real>
void spread_points(const SpreadTask<Real>& task, cudaStream_t stream);

/// Folds with T along each axis. @return where the result is: `first` or `second`
template <class Real>
struct FoldTask {
    const unsigned long long* spread = nullptr;
    int exponent = 0; ///< of `spread`
    GridPlacing placing;
    const GridRule* rule = nullptr;
    Real *first = nullptr, *second = nullptr;
};
template <class Real>
Real* fold_grid(const FoldTask<Real>& task, cudaStream_t stream);

/// Values in the caller's order and units.
template <class Real>
struct ValueTask {
    GridPointsOnGpu<Real> targets;
    const std::int32_t* from = nullptr; ///< the caller's row of each
    const Real* own = nullptr;          ///< what targets do not count of themselves; null: nothing
    const GridWindow* window = nullptr;
    GridPlacing placing;
    const Real* grid = nullptr;
    int potential_exponent = 0, gradient_exponent = 0; ///< powers of two that results are multiplied by
    double* potential = nullptr;                       ///< M, or null
    double* gradient = nullptr;                        ///< M×d, or null
    int* not_finite = nullptr;
};
template <class Real>
void take_values(const ValueTask<Real>& task, cudaStream_t stream);

} // namespace farfield::cuda
