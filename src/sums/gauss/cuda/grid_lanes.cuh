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

/// Calls body(at, begin, end) for each run of points of one cell among 32 of a warp; `at` is the place of the
/// cell's first grid point.
template <class Body>
__device__ inline void for_each_cell(int place, int count, const Body& body) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const int before = __shfl_up_sync(all_lanes, place, 1);
    const unsigned starts = __ballot_sync(all_lanes, lane < count && (lane == 0 || place != before));
    for (int k = 0; k < count;) {
        const int at = __shfl_sync(all_lanes, place, k);
        const unsigned later = starts & ~((2U << k) - 1U);
        const int end = later != 0 ? __ffs(static_cast<int>(later)) - 1 : count;
        body(at, k, end);
        k = end;
    }
}

/// How many planes registers move on from one cell to the next: all of them to another column.
struct PlaneWalk {
    int column = -1, plane = 0;

    template <int Width>
    __device__ int steps_to(int place, int plane_stride) {
        const int next_plane = place / plane_stride;
        const int next_column = place - next_plane * plane_stride;
        const int apart = next_plane - plane;
        const int steps = next_column != column || apart > Width || apart < 0 ? Width : apart;
        column = next_column;
        plane = next_plane;
        return steps;
    }
};

} // namespace farfield::cuda
