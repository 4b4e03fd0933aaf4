// The passes of a sum of Gaussians on a grid of a GPU: spread, fold, take values (gauss/grid/rules.h has the
// equations). Grids are indexed [last axis] … [first axis], the first fastest.
#pragma once

#include "sums/gauss/grid/placing.h"
#include "sums/gauss/grid/widths.h"
#include "sums/gauss/grid/window.h"

#include <cuda_runtime_api.h>

#include <cmath>
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

/// The caller's strengths, times a power of two.
struct StrengthsOnGpu {
    const double* numbers = nullptr;    ///< null: there are none
    const std::int32_t* from = nullptr; ///< the caller's row of each point
    int exponent = 0;
};

/// Multiplies by 2^e in two steps, as 2^e itself may be no normal number.
struct PowerOfTwo {
    double first = 1.0, second = 1.0;

    PowerOfTwo() = default;
    explicit PowerOfTwo(int e) {
        const int part = e / 2;
        first = std::ldexp(1.0, part);
        second = std::ldexp(1.0, e - part);
    }
    [[nodiscard]] FF_HD double operator()(double value) const { return value * first * second; }
};

/// Adds q φ to the grid, as whole multiples of 2^−exponent: sums of whole numbers do not depend on their
/// order. Thread blocks add to `copies` grids in turn, so that fewer of them meet. @pre they are 0
template <class Real>
struct SpreadTask {
    GridPointsOnGpu<Real> sources;
    StrengthsOnGpu strengths;
    const GridWindow* window = nullptr;
    GridPlacing placing;
    int exponent = 0;
    unsigned long long* grid = nullptr;
    int copies = 1;
};
template <class Real>
void spread_points(const SpreadTask<Real>& task, cudaStream_t stream);

/// A grid for taking values: the numbers along its last axis lie side by side, in rows ordered as
/// places are in a plane.
template <class Real>
struct RowsOfGrid {
    const Real* numbers = nullptr;
    int pitch = 0; ///< from one row to the next
};
/// What a grid takes in that form, or in its usual one.
inline std::size_t room_for_rows(const GridPlacing& placing) {
    const auto length = static_cast<std::size_t>(placing.length[placing.dimension - 1]);
    return static_cast<std::size_t>(placing.numbers()) / length * ((length + 3) / 4 * 4);
}

/// Folds with T along each axis.
template <class Real>
struct FoldTask {
    GridPlacing placing;
    const GridRule* rule = nullptr;
    Real *first = nullptr, *second = nullptr; ///< room_for_rows of them
};
/// Of what was spread.
template <class Real>
RowsOfGrid<Real> fold_grid(const FoldTask<Real>& task, const SpreadTask<Real>& spread, cudaStream_t stream);
/// Of the numbers in `first`, in three dimensions. @return the grid in its usual form: `first` or `second`
template <class Real>
Real* fold_numbers(const FoldTask<Real>& task, cudaStream_t stream);

/// Values in the caller's order and units.
template <class Real>
struct ValueTask {
    GridPointsOnGpu<Real> targets;
    const std::int32_t* from = nullptr; ///< the caller's row of each
    StrengthsOnGpu own;                 ///< what targets do not count of themselves
    const GridWindow* window = nullptr;
    GridPlacing placing;
    RowsOfGrid<Real> grid; ///< take_values_of_columns: in its usual form, without a pitch
    PowerOfTwo potential_factor, gradient_factor;
    double* potential = nullptr; ///< M, or null
    double* gradient = nullptr;  ///< M×d, or null
    int* not_finite = nullptr;
    unsigned long long* spent = nullptr; ///< becomes 0 on the way: what was spread, now folded
    std::int64_t spent_numbers = 0;
};
template <class Real>
void take_values(const ValueTask<Real>& task, cudaStream_t stream);

} // namespace farfield::cuda
