// Operands of the tensor cores for far tiles (far_frame.h has the formulas). A float is split into two halves
// of 11 bits, high and low; N, to which cancellation is hardest, into three. Sixteen products make root² r²:
//   row      x1 x1 x2  y1 y1 y2  z1 z1 z2   N1 N2 N3·2¹²   1  1  2⁻¹²   0      (x1 x2: f u_j, high and low)
//   column   x1 x2 x1  y1 y2 y1  z1 z2 z1   1  1  2⁻¹²     N1 N2 N3·2¹² 0      (x1 x2: −2 u_i)
// Lanes are named (g, t), g = lane / 4, t = lane mod 4, as in the PTX manual's tables of mma fragments.
#pragma once

#include "sums/direct/cuda/pair.cuh"
#include "sums/direct/cuda/tensor/far_frame.h"

#include <cuda_fp16.h>

#include <cstdint>

namespace farfield::cuda {

/// u of a body as (high, low) of each axis, and |u|².
struct alignas(16) FarBody {
    __half2 axis[3];
    float norm;
};

/// The sixteen factors of a row or a column.
struct alignas(16) FarVector {
    __half2 word[8];
};

__device__ __forceinline__ __half2 split(float value) {
    const __half high = __float2half_rn(value);
    return __halves2half2(high, __float2half_rn(value - __half2float(high)));
}
__device__ __forceinline__ float joined(__half2 parts) { return __low2float(parts) + __high2float(parts); }

__device__ __forceinline__ FarBody far_body(const float (&u)[3]) {
    FarBody body{};
    float v[3];
#pragma unroll
    for (int k = 0; k < 3; ++k) {
        body.axis[k] = split(u[k]);
        v[k] = joined(body.axis[k]); // what the products will use
    }
    body.norm = fmaf(v[0], v[0], fmaf(v[1], v[1], v[2] * v[2]));
    return body;
}

template <bool row>
__device__ __forceinline__ FarVector far_vector(const FarBody& body, const FarCoefficients& c) {
    float n = fmaf(c.square, body.norm, c.constant);
    __half2 axis[3];
#pragma unroll
    for (int k = 0; k < 3; ++k) {
        n = fmaf(c.gradient[k], joined(body.axis[k]), n);
        axis[k] = __hmul2(body.axis[k], __float2half2_rn(c.factor));
    }
    const __half2 n12 = split(n);
    const __half n3 = __float2half_rn(4096.0F * ((n - __low2float(n12)) - __high2float(n12)));
    const __half one = __float2half_rn(1.0F), small = __float2half_rn(1.0F / 4096.0F);
    const __half zero = __float2half_rn(0.0F);
    const auto high = [&](int k) { return __low2half(axis[k]); };
    const auto low = [&](int k) { return __high2half(axis[k]); };
    const auto pair = [](__half a, __half b) { return __halves2half2(a, b); };
    if constexpr (row)
        return {
            pair(high(0), high(0)),        pair(low(0), high(1)),      axis[1],        pair(high(2), high(2)),
            pair(low(2), __low2half(n12)), pair(__high2half(n12), n3), pair(one, one), pair(small, zero)};
    else
        return {axis[0], pair(high(0), high(1)), pair(low(1), high(1)),
                axis[2], pair(high(2), one),     pair(one, small),
                n12,     pair(n3, zero)};
}

/// d = A·B of 16×16 halves in `a` and 16×8 in `b`.
__device__ __forceinline__ void product(float (&d)[4], const uint4& a, const uint2& b) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%10,%10,%10,%10};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y), "f"(0.0F));
}
/// d += A·B.
__device__ __forceinline__ void add_product(float (&d)[4], const uint4& a, const uint2& b) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y));
}

/// Exchanges rows and columns of an 8×8 matrix of halves: (g, 2t) and (g, 2t + 1) in lane (g, t).
__device__ __forceinline__ std::uint32_t transposed(std::uint32_t block) {
    std::uint32_t out;
    asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(out) : "r"(block));
    return out;
}
/// root² r² of 16 rows and 16 columns: 8 columns, then the others; each (g, 2t), (g, 2t + 1), and of g + 8.
struct FarDistances {
    float half[2][4];
};
__device__ __forceinline__ FarDistances far_distances(const uint4& rows, const uint2 (&columns)[2]) {
    FarDistances r2;
    product(r2.half[0], rows, columns[0]);
    product(r2.half[1], rows, columns[1]);
    return r2;
}

/// Of them 1/r³ in units of root³, as A operands: high halves and low halves. An operand's words are four
/// blocks of 8×8: upper left, lower left, upper right, lower right.
struct FarWeights {
    uint4 high, low;
};
__device__ __forceinline__ FarWeights far_weights(const FarDistances& r2) {
    std::uint32_t high[4], low[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const float w0 = inverse_powers<field_only>(r2.half[k / 2][k % 2 * 2]).third;
        const float w1 = inverse_powers<field_only>(r2.half[k / 2][k % 2 * 2 + 1]).third;
        const __half2 h = __floats2half2_rn(w0, w1);
        const __half2 l = __floats2half2_rn(w0 - __low2float(h), w1 - __high2float(h));
        high[k] = reinterpret_cast<const std::uint32_t&>(h);
        low[k] = reinterpret_cast<const std::uint32_t&>(l);
    }
    return {{high[0], high[1], high[2], high[3]}, {low[0], low[1], low[2], low[3]}};
}

__device__ __forceinline__ uint4 transposed(const uint4& a) {
    return {transposed(a.x), transposed(a.z), transposed(a.y), transposed(a.w)};
}
__device__ __forceinline__ FarWeights transposed(const FarWeights& w) {
    return {transposed(w.high), transposed(w.low)};
}

/// Where the strengths of 16 bodies lie as a B operand, in halves: columns 0–3 are the high parts of
/// q u_x, q u_y, q u_z, q, columns 4–7 the low ones.
__device__ __forceinline__ int strength_place(int body, int column) {
    return ((column * 4 + (body & 7) / 2) * 2 + body / 8) * 2 + (body & 1);
}

} // namespace farfield::cuda
