// What a pair formula may ask of its value type beyond + − ×. `Ops<V>` is specialised for float and double
// here (host and device), for SIMD batches in backend/simd and for packs of either in math/pack.h. A trait,
// not free functions: argument-dependent lookup finds nothing for float.
#pragma once

#include "math/host_device.h"

#include <cmath>
#include <cstdint>

/// Formulas are spread over many small functions; a loop over pairs cannot afford to call one.
#define FF_INLINE FF_HD inline __attribute__((always_inline))
#define FF_INLINE_LAMBDA __attribute__((always_inline))

namespace farfield {

template <class V>
struct Ops;

/// The operations of a plain number.
template <class T>
struct ScalarOps {
    using Scalar = T;
    static constexpr int width = 1; ///< numbers in a value
    /// Largest relative error of `rsqrt_estimate`, beyond rounding.
    static constexpr double estimate_error = 0.0;

    FF_INLINE static T set(T x) { return x; } ///< the same number in all lanes
    FF_INLINE static T load(const T* p) { return *p; }
    FF_INLINE static void store(T* p, T v) { *p = v; }
    FF_INLINE static T lanes(T first) { return first; } ///< first, first + 1, …
    FF_INLINE static T sum(T v) { return v; }           ///< of all lanes, in a fixed order
    FF_INLINE static void transpose(T (&/*v*/)[1]) {}   ///< lane j of value i becomes lane i of value j

    /// a·b + c and c − a·b, with one rounding where the machine has the instruction.
    FF_INLINE static T fma(T a, T b, T c) {
#if defined(__CUDA_ARCH__)
        return ::fma(a, b, c);
#else
        return a * b + c; // baseline x86-64 has no such instruction and std::fma would be a call
#endif
    }
    FF_INLINE static T fnma(T a, T b, T c) { return fma(-a, b, c); }

    /// About 1/√x. What it gives for 0, subnormal numbers and beyond is not finite or not used.
    FF_INLINE static T rsqrt_estimate(T x) { return T(1) / std::sqrt(x); }

    FF_INLINE static T select(bool condition, T yes, T no) { return condition ? yes : no; }
};

template <>
struct Ops<float> : ScalarOps<float> {};
template <>
struct Ops<double> : ScalarOps<double> {};

} // namespace farfield
