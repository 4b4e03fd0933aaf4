// Points on their way from block to block. A point is one or two pieces of 16 bytes: three words of
// coordinates and a stamp, the number of the evaluation. A piece is read and written as a whole, so that who
// finds the stamp has the coordinates with it: readers wait for the data itself, and no barrier, flag or
// fence is needed.
#pragma once

#include "dynamics/cuda/pack.cuh"

#include <cuda_runtime_api.h>

namespace farfield::cuda {

constexpr unsigned all_lanes = 0xffffffffU;

__device__ __forceinline__ uint4 load_piece(const uint4* from) {
    unsigned long long low, high;
    asm volatile("{ .reg .b128 piece; ld.relaxed.gpu.global.b128 piece, [%2]; mov.b128 {%0, %1}, piece; }"
                 : "=l"(low), "=l"(high)
                 : "l"(from)
                 : "memory");
    return {static_cast<unsigned>(low), static_cast<unsigned>(low >> 32), static_cast<unsigned>(high),
            static_cast<unsigned>(high >> 32)};
}

__device__ __forceinline__ void store_piece(uint4* to, const uint4& piece) {
    const unsigned long long low = piece.x | static_cast<unsigned long long>(piece.y) << 32;
    const unsigned long long high = piece.z | static_cast<unsigned long long>(piece.w) << 32;
    asm volatile(
        "{ .reg .b128 piece; mov.b128 piece, {%1, %2}; st.relaxed.gpu.global.b128 [%0], piece; }" ::"l"(to),
        "l"(low), "l"(high)
        : "memory");
}

/// The four lanes of a body, the first three with a coordinate each, write its point. All lanes of the warp
/// call this. Floats: x y z, and with mixed what rounding took off; doubles: x and half of z, y and the other
/// half.
template <class PointType>
__device__ __forceinline__ void send_point(uint4* pieces, int n, int body, int axis, bool owner,
                                           const PackedCoordinate<PointType>& packed, unsigned stamp) {
    if constexpr (sizeof(typename PointType::real) == 8) {
        const unsigned low = static_cast<unsigned>(__double2loint(packed.high));
        const unsigned high = static_cast<unsigned>(__double2hiint(packed.high));
        const unsigned z_low = __shfl_down_sync(all_lanes, low, 2);   // from axis 2 to axis 0
        const unsigned z_high = __shfl_down_sync(all_lanes, high, 1); // from axis 2 to axis 1
        if (owner && axis < 2)
            store_piece(pieces + axis * n + body, {low, high, axis == 0 ? z_low : z_high, stamp});
    } else {
        const float y = __shfl_down_sync(all_lanes, packed.high, 1),
                    z = __shfl_down_sync(all_lanes, packed.high, 2);
        if (owner && axis == 0)
            store_piece(pieces + body,
                        {__float_as_uint(packed.high), __float_as_uint(y), __float_as_uint(z), stamp});
        if constexpr (is_mixed<PointType>) {
            const float x_low = __shfl_up_sync(all_lanes, packed.low, 1);
            const float z_low = __shfl_down_sync(all_lanes, packed.low, 1);
            if (owner && axis == 1)
                store_piece(pieces + n + body, {__float_as_uint(x_low), __float_as_uint(packed.low),
                                                __float_as_uint(z_low), stamp});
        }
    }
}

/// Puts piece `k` of the n points into shared memory, where piece p of point j is at [p·padded + j]; what is
/// there of strengths stays.
template <class PointType>
__device__ __forceinline__ void receive_piece(uint4* shared, int padded, int n, int k, const uint4& piece) {
    if constexpr (sizeof(typename PointType::real) == 8) {
        const int half = k >= n ? 1 : 0, j = k - half * n;
        auto* const xy = reinterpret_cast<uint2*>(shared + j);
        auto* const z = reinterpret_cast<unsigned*>(shared + padded + j);
        xy[half] = {piece.x, piece.y};
        z[half] = piece.z;
    } else {
        const int at = is_mixed<PointType> && k >= n ? k - n + padded : k;
        auto* const xyz = reinterpret_cast<unsigned*>(shared + at);
        *reinterpret_cast<uint2*>(xyz) = {piece.x, piece.y};
        xyz[2] = piece.z;
    }
}

/// All points of the evaluation with this stamp, by all threads of the block; `at_once` reads of a thread are
/// under way at a time.
template <class PointType, int threads, int at_once>
__device__ __forceinline__ void receive_points(const uint4* pieces, uint4* shared, int padded, int n,
                                               unsigned stamp) {
    const int total = pieces_of<PointType> * n;
    for (int first = static_cast<int>(threadIdx.x); first < total; first += at_once * threads) {
        uint4 piece[at_once];
#pragma unroll
        for (int u = 0; u < at_once; ++u)
            if (first + u * threads < total) piece[u] = load_piece(pieces + first + u * threads);
#pragma unroll
        for (int u = 0; u < at_once; ++u) {
            const int k = first + u * threads;
            if (k >= total) continue;
            while (piece[u].w != stamp) piece[u] = load_piece(pieces + k);
            receive_piece<PointType>(shared, padded, n, k, piece[u]);
        }
    }
}

} // namespace farfield::cuda
