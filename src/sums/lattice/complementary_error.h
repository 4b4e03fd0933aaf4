// exp(x²) erfc(x) for x ≥ 0 in vectors: P(t)/(3 + x) with t = (3 − x)/(3 + x), P the Chebyshev series of
// degree 22 in powers of t (own fit in 50 digits; relative error 7e-16 with the rounding of its evaluation).
// Include it only in sources compiled for one instruction set, or for GPUs.
#pragma once

#include "math/ops.h"
#include "sums/kernels/inverse_distance.h"

namespace farfield {

/// By 1/(3 + x).
template <class V>
FF_INLINE V scaled_complementary_error_of(V inverse) {
    using O = Ops<V>;
    constexpr int terms = 23;
    constexpr double c[terms] = {
        // NOLINT(*-avoid-c-arrays): device code has no functions of std::array
        0x1.12f21ddd9f5e2p+0,   0x1.c44c471baa34cp-1,  0x1.2e326945de2f1p-1,   0x1.3deb21415f97ep-2,
        0x1.e995f11b116e0p-4,   0x1.b78993d3c1f6ep-6,  -0x1.3dd3e6f5a4444p-10, -0x1.8dae390b96a4ap-9,
        -0x1.1f78e34e32debp-11, 0x1.2238c29ba6119p-12, 0x1.c32592747e3eep-14,  -0x1.fdf065aee55b2p-16,
        -0x1.251fd4d08aa4fp-16, 0x1.3e1eb5bbb38f0p-18, 0x1.737b20b7781e2p-19,  -0x1.0820a466d029fp-20,
        -0x1.ba0b303843492p-22, 0x1.d284a5bb6216ep-23, 0x1.ad22a1ac0566cp-25,  -0x1.5380acf34c93bp-25,
        -0x1.ea67ab4e26c3fp-29, 0x1.14f2c7cb70ce7p-28, 0x1.e96919da479b8p-38};
    const V t = O::fma(O::set(6.0), inverse, O::set(-1.0)); // (3 − x)/(3 + x)
    const V t2 = t * t; // even and odd powers side by side: half as long a chain
    V even = O::set(c[terms - 1]);
    V odd = O::set(c[terms - 2]);
    for (int k = terms - 3; k > 1; k -= 2) {
        even = O::fma(even, t2, O::set(c[k]));
        odd = O::fma(odd, t2, O::set(c[k - 1]));
    }
    even = O::fma(even, t2, O::set(c[0]));
    return O::fma(odd, t, even) * inverse;
}

template <class V>
FF_INLINE V scaled_complementary_error(V x) {
    using O = Ops<V>;
    // 1/(3 + x) as the square of an inverse root: divisions take longer
    const V root = inverse_distance(O::set(3.0) + x);
    constexpr double factor = InversePower<V, 1>::factor;
    return scaled_complementary_error_of(O::set(factor * factor) * (root * root));
}

} // namespace farfield
