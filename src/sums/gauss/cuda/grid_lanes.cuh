// How a warp spreads points onto a grid and takes values from it. Lanes own the grid points that one point
// touches in a plane across the last axis; registers hold them for the w planes that it touches along that
// axis. Points are sorted by columns along the last axis, so that registers slide with them: a plane that is
// left behind goes to the grid, or comes from it, once for all points of a cell.
#pragma once

#include "sums/gauss/cuda/grid_passes.cuh"
#include "sums/gauss/grid/paired_window.h"

#include <algorithm>

namespace farfield::cuda {

constexpr unsigned all_lanes = 0xFFFFFFFFU;

/// The grid points of a plane, dealt to lanes. Where they are few, groups of lanes take points side by side.
template <int Width, int D>
struct GridLanes {
    static constexpr int slots = D == 1 ? 1 : D == 2 ? Width : Width * Width;
    static constexpr int lanes = slots > 16 ? 32 : slots > 8 ? 16 : slots > 4 ? 8 : slots > 1 ? 4 : 1;
    static constexpr int groups = 32 / lanes;
    static constexpr int rounds = (slots + lanes - 1) / lanes;
    static constexpr int at_once = rounds > 5 ? (rounds + 1) / 2 : rounds; ///< slots of a lane in registers
    static constexpr int slabs = (rounds + at_once - 1) / at_once;
};

/// Points whose taps a warp makes at a time, and where they are in shared memory: a row a point, axis by
/// axis, values and then slopes. Rows are an odd number of 16-byte pieces, so that lanes that write rows do
/// not meet in banks.
template <class Real, int Width, int D, bool with_slopes>
struct TapRows {
    static constexpr int piece = 16 / static_cast<int>(sizeof(Real));
    static constexpr int axis = (Width + piece - 1) / piece * piece;
    static constexpr int slopes = D * axis;
    static constexpr int used = D * axis * (with_slopes ? 2 : 1);
    static constexpr int row = used / piece % 2 == 0 ? used + piece : used;

    Real numbers[32 * row];
};

template <class Real>
constexpr int grid_warps = sizeof(Real) == 8 ? 2 : 4; ///< of a thread block
/// Points that a warp spreads. More of them leave fewer planes at their end, fewer keep a large GPU busy.
inline int spread_points_of_a_warp(int points) {
    constexpr int warps = 4096;
    return std::clamp(points / warps / 32 * 32, 32, 128);
}

template <class Real>
__device__ inline Real strength_of(const StrengthsOnGpu& strengths, int point) {
    return static_cast<Real>(scalbn(strengths.numbers[strengths.from[point]], strengths.exponent));
}

/// Sixteen bytes of taps.
template <class Real>
struct alignas(16) TapPiece {
    Real at[16 / sizeof(Real)];
};

template <class Real, int Width>
__device__ inline void load_taps(const Real* from, Real (&taps)[Width]) {
    constexpr int piece = 16 / static_cast<int>(sizeof(Real));
#pragma unroll
    for (int first = 0; first < Width; first += piece) {
        const auto loaded = *reinterpret_cast<const TapPiece<Real>*>(from + first);
#pragma unroll
        for (int k = 0; k < piece; ++k)
            if (first + k < Width) taps[first + k] = loaded.at[k];
    }
}

template <class Real, int Width>
__device__ inline void store_taps(const Real (&taps)[Width], Real factor, Real* to) {
    constexpr int piece = 16 / static_cast<int>(sizeof(Real));
#pragma unroll
    for (int first = 0; first < Width; first += piece) {
        TapPiece<Real> stored;
#pragma unroll
        for (int k = 0; k < piece; ++k) stored.at[k] = first + k < Width ? factor * taps[first + k] : Real(0);
        *reinterpret_cast<TapPiece<Real>*>(to + first) = stored;
    }
}

/// The taps of a point; those of the last axis times `strength`.
template <class Real, int Width, int D, bool with_slopes>
__device__ inline void make_taps(const PairedWindow<Real, Width>& window, const GridPoint<Real>& point,
                                 Real strength, Real* row) {
    using Rows = TapRows<Real, Width, D, with_slopes>;
#pragma unroll
    for (int k = 0; k < D; ++k) {
        const Real factor = k == D - 1 ? strength : Real(1);
        Real taps[Width];
        paired_taps(window.value, point.u[k], Real(1), taps);
        store_taps(taps, factor, row + k * Rows::axis);
        if constexpr (with_slopes) {
            paired_taps(window.slope, point.u[k], Real(-1), taps);
            store_taps(taps, factor, row + Rows::slopes + k * Rows::axis);
        }
    }
}

/// Where a lane's slots lie in a plane, and which taps belong to them.
template <int Width, int D>
struct LaneSlots {
    using Lanes = GridLanes<Width, D>;
    int x[Lanes::at_once], y[Lanes::at_once], place[Lanes::at_once];
    bool on[Lanes::at_once];

    __device__ LaneSlots(int slab, int lane, int row_stride) {
#pragma unroll
        for (int q = 0; q < Lanes::at_once; ++q) {
            const int slot = (slab * Lanes::at_once + q) * Lanes::lanes + lane % Lanes::lanes;
            on[q] = slot < Lanes::slots;
            x[q] = on[q] ? slot % Width : 0;
            y[q] = on[q] ? slot / Width : 0;
            place[q] = D == 1 ? 0 : D == 2 ? x[q] : y[q] * row_stride + x[q];
        }
    }
};

/// Goes from cell to cell along the points of a warp, 32 at a time. Each lane finds where the cell of its
/// point ends and how far the one before is, all at once; a cell then takes the warp two shuffles.
template <int Width>
class CellWalk {
    unsigned plane_stride_;
    float planes_of_place_;
    int last_ = -1; ///< the place of the last of 32 points, before the next 32

public:
    explicit CellWalk(int plane_stride)
        : plane_stride_(static_cast<unsigned>(plane_stride)),
          planes_of_place_(1.0F / static_cast<float>(plane_stride)) {}

    /// Calls body(at, begin, end, planes) for each run of points of one cell. `at` is the place of the cell's
    /// first grid point. Registers move on by `planes` from the cell before; to another column, by all.
    template <class Body>
    __device__ void operator()(int place, int count, const Body& body) {
        const int lane = static_cast<int>(threadIdx.x % 32);
        const int before = __shfl_sync(all_lanes, lane == 31 ? last_ : place, (lane + 31) % 32);
        last_ = place;
        const unsigned starts = __ballot_sync(all_lanes, lane < count && (lane == 0 || place != before));
        const unsigned later = starts & ~((2U << lane) - 1U);
        const int end = later != 0 ? __ffs(static_cast<int>(later)) - 1 : count;
        const int moved = before < 0 ? 0 : planes_to(static_cast<unsigned>(place - before));
        const auto run = static_cast<unsigned>(64 * moved + end);
        for (int k = 0; k < count;) {
            const int at = __shfl_sync(all_lanes, place, k);
            const unsigned of_cell = __shfl_sync(all_lanes, run, k);
            body(at, k, static_cast<int>(of_cell % 64), static_cast<int>(of_cell / 64));
            k = static_cast<int>(of_cell % 64);
        }
    }

private:
    /// Places of one column lie whole planes apart, those of two columns never. The quotient of fewer than w
    /// planes rounds to the right number in float, and the product tells them from anything else.
    __device__ int planes_to(unsigned apart) const {
        const unsigned planes = __float2uint_rn(static_cast<float>(apart) * planes_of_place_);
        return planes < Width && planes * plane_stride_ == apart ? static_cast<int>(planes) : Width;
    }
};

} // namespace farfield::cuda
