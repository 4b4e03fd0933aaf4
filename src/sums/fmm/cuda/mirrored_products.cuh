// What thread blocks of MirroredTranslation multiply, in registers or on tensor cores.
#pragma once

#include "sums/fmm/mirrored_operators.h"

#include <cuda_runtime_api.h>

namespace farfield::cuda {

constexpr int mirrored_threads = 32 * parities;

/// What fits into registers: for each lane `targets`/8 times `groups` rows, or as many numbers of 16 by 8
/// tiles.
template <class Real, int tile_targets, int most_groups>
struct MirroredShape {
    using Number = Real;
    static constexpr int targets = tile_targets;
    static constexpr int groups = most_groups;
    static constexpr bool tensor = MirroredOperators<Real>::for_tensor_cores;
    static constexpr int own_columns =
        targets * mirrored_columns / mirrored_threads; ///< a thread forms sums of
    static constexpr int row = targets + 4; ///< of sums: lanes that read or write meet in different banks
    static constexpr int matrix = tensor ? 64 * groups * (mirrored_columns / 4)
                                         : 4 * mirrored_columns * ((groups + 3) / 4 * 4); ///< of a warp
    static_assert(own_columns * mirrored_threads == targets * mirrored_columns);
};

/// Products in registers; a lane has 8 targets, or 4, of every fourth row.
template <class Shape>
class FmaProducts {
    static constexpr int packs = Shape::targets / 32;
    using Real = typename Shape::Number;
    Real sum_[Shape::groups][4 * packs] = {};
    const int target_lane_ = static_cast<int>(threadIdx.x) % 8;
    const int row_lane_ = static_cast<int>(threadIdx.x) % 32 / 8;

    template <int rows>
    __device__ __forceinline__ void multiply_rows(const Real (&sums)[mirrored_columns][Shape::row],
                                                  const Real* matrix, int pad, int columns) {
        const Real* at = matrix + row_lane_ * pad;
#pragma unroll 2
        for (int k = 0; k < columns; ++k, at += 4 * pad) {
            alignas(16) Real a[(rows + 3) / 4 * 4], b[4 * packs];
#pragma unroll
            for (int i = 0; i < rows; i += 4)
                *reinterpret_cast<float4*>(a + i) = *reinterpret_cast<const float4*>(at + i);
#pragma unroll
            for (int p = 0; p < packs; ++p)
                *reinterpret_cast<float4*>(b + 4 * p) =
                    *reinterpret_cast<const float4*>(&sums[k][32 * p + 4 * target_lane_]);
#pragma unroll
            for (int r = 0; r < rows; ++r)
#pragma unroll
                for (int t = 0; t < 4 * packs; ++t) sum_[r][t] = fma(a[r], b[t], sum_[r][t]);
        }
    }

    template <int rows>
    __device__ __forceinline__ void multiply_up_to(const Real (&sums)[mirrored_columns][Shape::row],
                                                   const Real* matrix, int pad, int columns, int own) {
        if constexpr (rows > 0) {
            if (own == rows) return multiply_rows<rows>(sums, matrix, pad, columns);
            multiply_up_to<rows - 1>(sums, matrix, pad, columns, own);
        }
    }

public:
    /// @param groups  of the matrix @param rows  of this warp
    __device__ __forceinline__ void multiply(const Real (&sums)[mirrored_columns][Shape::row],
                                             const Real* matrix, int groups, int rows, int columns) {
        multiply_up_to<Shape::groups>(sums, matrix, (groups + 3) / 4 * 4, columns, (rows + 3) / 4);
    }

    /// Calls put(row, target, value) for all.
    template <class Put>
    __device__ __forceinline__ void each(const Put& put) const {
#pragma unroll
        for (int r = 0; r < Shape::groups; ++r)
#pragma unroll
            for (int t = 0; t < 4 * packs; ++t)
                put(4 * r + row_lane_, t / 4 * 32 + 4 * target_lane_ + t % 4, sum_[r][t]);
    }
};

/// Products on tensor cores, 16 rows by 8 targets each.
template <class Shape>
class TensorProducts {
    static constexpr int tiles = Shape::targets / 8;
    double sum_[Shape::groups][tiles][4] = {};
    const int lane_ = static_cast<int>(threadIdx.x) % 32;

public:
    __device__ __forceinline__ void multiply(const double (&sums)[mirrored_columns][Shape::row],
                                             const double* matrix, int groups, int rows, int columns) {
        const int own = (rows + 15) / 16;
        const double* at = matrix + 2 * lane_;
        for (int k = 0; k < columns; k += 4, at += 64 * groups) {
            double b[tiles];
#pragma unroll
            for (int t = 0; t < tiles; ++t) b[t] = sums[k + lane_ % 4][8 * t + lane_ / 4];
#pragma unroll
            for (int r = 0; r < Shape::groups; ++r) {
                if (r >= own) continue;
                const auto a = *reinterpret_cast<const double2*>(at + 64 * r);
#pragma unroll
                for (int t = 0; t < tiles; ++t)
                    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
                        "{%0, %1, %2, %3};"
                        : "+d"(sum_[r][t][0]), "+d"(sum_[r][t][1]), "+d"(sum_[r][t][2]), "+d"(sum_[r][t][3])
                        : "d"(a.x), "d"(a.y), "d"(b[t]));
            }
        }
    }

    template <class Put>
    __device__ __forceinline__ void each(const Put& put) const {
#pragma unroll
        for (int r = 0; r < Shape::groups; ++r)
#pragma unroll
            for (int t = 0; t < tiles; ++t)
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    put(16 * r + 8 * (i / 2) + lane_ / 4, 8 * t + 2 * (lane_ % 4) + i % 2, sum_[r][t][i]);
    }
};

} // namespace farfield::cuda
