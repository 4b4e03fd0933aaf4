// Ops for SIMD batches. This folder alone names xsimd. Only sources compiled for one instruction set
// (cmake/farfield_isa.cmake) may include this header.
#pragma once

#include "math/ops.h"

#include <immintrin.h>
#include <xsimd/xsimd.hpp>

#include <utility>

namespace farfield {

// xsimd 8.1 has no estimate instruction for AVX-512, its `rsqrt` of doubles goes through float unguarded, and
// its `fma` for AVX-512 multiplies and adds. Doubles without rsqrt14 take the estimate of the number rounded
// to float: right from 2⁻¹²⁶ to 2¹²⁷. Outside it is 0 or infinite, the pair's result is not finite, and the
// row is computed again (sums/direct/common/repair.h).
namespace detail {
#if defined(__AVX512F__)
inline constexpr double estimate_error = 0x1p-14;
FF_INLINE __m512 rsqrt_estimate(__m512 x) { return _mm512_rsqrt14_ps(x); }
FF_INLINE __m512d rsqrt_estimate(__m512d x) { return _mm512_rsqrt14_pd(x); }
FF_INLINE __m512 fma(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }
FF_INLINE __m512d fma(__m512d a, __m512d b, __m512d c) { return _mm512_fmadd_pd(a, b, c); }
FF_INLINE __m512 fnma(__m512 a, __m512 b, __m512 c) { return _mm512_fnmadd_ps(a, b, c); }
FF_INLINE __m512d fnma(__m512d a, __m512d b, __m512d c) { return _mm512_fnmadd_pd(a, b, c); }
#elif defined(__AVX2__)
inline constexpr double estimate_error = 0x1.8p-12 + 0x1p-23;
FF_INLINE __m256 rsqrt_estimate(__m256 x) { return _mm256_rsqrt_ps(x); }
FF_INLINE __m256d rsqrt_estimate(__m256d x) { return _mm256_cvtps_pd(_mm_rsqrt_ps(_mm256_cvtpd_ps(x))); }
FF_INLINE __m256 fma(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
FF_INLINE __m256d fma(__m256d a, __m256d b, __m256d c) { return _mm256_fmadd_pd(a, b, c); }
FF_INLINE __m256 fnma(__m256 a, __m256 b, __m256 c) { return _mm256_fnmadd_ps(a, b, c); }
FF_INLINE __m256d fnma(__m256d a, __m256d b, __m256d c) { return _mm256_fnmadd_pd(a, b, c); }
#else
inline constexpr double estimate_error = 0x1.8p-12 + 0x1p-23;
FF_INLINE __m128 rsqrt_estimate(__m128 x) { return _mm_rsqrt_ps(x); }
FF_INLINE __m128d rsqrt_estimate(__m128d x) { return _mm_cvtps_pd(_mm_rsqrt_ps(_mm_cvtpd_ps(x))); }
FF_INLINE __m128 fma(__m128 a, __m128 b, __m128 c) { return _mm_add_ps(_mm_mul_ps(a, b), c); }
FF_INLINE __m128d fma(__m128d a, __m128d b, __m128d c) { return _mm_add_pd(_mm_mul_pd(a, b), c); }
FF_INLINE __m128 fnma(__m128 a, __m128 b, __m128 c) { return _mm_sub_ps(c, _mm_mul_ps(a, b)); }
FF_INLINE __m128d fnma(__m128d a, __m128d b, __m128d c) { return _mm_sub_pd(c, _mm_mul_pd(a, b)); }
#endif

/// Lanes of a and b by turns, from lane `first` of each on.
template <int first, class R, int... lane>
FF_INLINE R interleaved(R a, R b, std::integer_sequence<int, lane...> /*lanes*/) {
    return __builtin_shufflevector(a, b,
                                   (first + lane / 2 + (lane % 2) * static_cast<int>(sizeof...(lane)))...);
}
} // namespace detail

template <class T, class Arch>
struct Ops<xsimd::batch<T, Arch>> {
    using Scalar = T;
    using V = xsimd::batch<T, Arch>;
    using R = typename V::register_type;
    static constexpr int width = static_cast<int>(V::size);
    static constexpr double estimate_error = detail::estimate_error;

    FF_INLINE static V set(T x) { return V(x); }
    FF_INLINE static V load(const T* p) { return V::load_unaligned(p); }
    FF_INLINE static void store(T* p, V v) { v.store_unaligned(p); }
    FF_INLINE static V lanes(T first) {
        alignas(64) T numbers[width];
        for (int k = 0; k < width; ++k) numbers[k] = first + static_cast<T>(k);
        return V::load_aligned(numbers);
    }
    FF_INLINE static T sum(V v) { return xsimd::hadd(v); }
    FF_INLINE static void transpose(V (&v)[width]) {
        constexpr auto lanes = std::make_integer_sequence<int, width>{};
        for (int step = 1; step < width; step *= 2) {
            V from[width];
            for (int k = 0; k < width; ++k) from[k] = v[k];
            for (int k = 0; k < width / 2; ++k) {
                const R a(from[k]);
                const R b(from[k + width / 2]);
                v[2 * k] = V(detail::interleaved<0>(a, b, lanes));
                v[2 * k + 1] = V(detail::interleaved<width / 2>(a, b, lanes));
            }
        }
    }
    FF_INLINE static V fma(V a, V b, V c) { return V(detail::fma(R(a), R(b), R(c))); }
    FF_INLINE static V fnma(V a, V b, V c) { return V(detail::fnma(R(a), R(b), R(c))); }
    FF_INLINE static V rsqrt_estimate(V x) { return V(detail::rsqrt_estimate(R(x))); }
    FF_INLINE static V select(const typename V::batch_bool_type& condition, V yes, V no) {
        return xsimd::select(condition, yes, no);
    }
};

} // namespace farfield
