// Arithmetic of PlaneNumber in kernels.
#pragma once

#include "sums/fmm/plane/tensor_operators.h"

#include <cuda_runtime.h>

namespace farfield::cuda {

__device__ __forceinline__ PlaneNumber operator*(const PlaneNumber& a, const PlaneNumber& b) {
    return {fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re)};
}
/// sum + a·b
__device__ __forceinline__ void multiply_add(PlaneNumber& sum, const PlaneNumber& a, const PlaneNumber& b) {
    sum.re = fma(a.re, b.re, fma(-a.im, b.im, sum.re));
    sum.im = fma(a.re, b.im, fma(a.im, b.re, sum.im));
}
__device__ __forceinline__ void multiply_add(PlaneNumber& sum, double a, const PlaneNumber& b) {
    sum.re = fma(a, b.re, sum.re);
    sum.im = fma(a, b.im, sum.im);
}
/// 1/a
__device__ __forceinline__ PlaneNumber inverse_of(const PlaneNumber& a) {
    const double scale = 1.0 / fma(a.re, a.re, a.im * a.im);
    return {a.re * scale, -a.im * scale};
}
__device__ __forceinline__ PlaneNumber read(const PlaneNumber* from) {
    const auto two = __ldg(reinterpret_cast<const double2*>(from));
    return {two.x, two.y};
}

} // namespace farfield::cuda
