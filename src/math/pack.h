// Several values of one type that a formula treats as one. Each operation is done for all of them before the
// next begins, so independent chains lie side by side in the instruction stream: that keeps the arithmetic
// units of a core busy where one chain at a time would fill its scheduler with waiting instructions.
#pragma once

#include "math/ops.h"

namespace farfield {

template <class V, int N>
struct Pack {
    V v[N];

    /// N copies of one value.
    FF_INLINE static Pack all(V x) {
        Pack out; // NOLINT(*-member-init): filled below
        for (int n = 0; n < N; ++n) out.v[n] = x;
        return out;
    }
};

template <class V, int N>
FF_INLINE Pack<V, N> operator+(const Pack<V, N>& a, const Pack<V, N>& b) {
    Pack<V, N> out; // NOLINT(*-member-init): filled below
    for (int n = 0; n < N; ++n) out.v[n] = a.v[n] + b.v[n];
    return out;
}

template <class V, int N>
FF_INLINE Pack<V, N> operator-(const Pack<V, N>& a, const Pack<V, N>& b) {
    Pack<V, N> out; // NOLINT(*-member-init): filled below
    for (int n = 0; n < N; ++n) out.v[n] = a.v[n] - b.v[n];
    return out;
}

template <class V, int N>
FF_INLINE Pack<V, N> operator*(const Pack<V, N>& a, const Pack<V, N>& b) {
    Pack<V, N> out; // NOLINT(*-member-init): filled below
    for (int n = 0; n < N; ++n) out.v[n] = a.v[n] * b.v[n];
    return out;
}

template <class V, int N>
struct Ops<Pack<V, N>> {
    using Scalar = typename Ops<V>::Scalar;
    using P = Pack<V, N>;
    static constexpr int width = N * Ops<V>::width;
    static constexpr double estimate_error = Ops<V>::estimate_error;

    FF_INLINE static P set(Scalar x) { return P::all(Ops<V>::set(x)); }
    FF_INLINE static P load(const Scalar* p) {
        P out;
        for (int n = 0; n < N; ++n) out.v[n] = Ops<V>::load(p + n * Ops<V>::width);
        return out;
    }
    FF_INLINE static void store(Scalar* p, const P& a) {
        for (int n = 0; n < N; ++n) Ops<V>::store(p + n * Ops<V>::width, a.v[n]);
    }
    FF_INLINE static P fma(const P& a, const P& b, const P& c) {
        P out;
        for (int n = 0; n < N; ++n) out.v[n] = Ops<V>::fma(a.v[n], b.v[n], c.v[n]);
        return out;
    }
    FF_INLINE static P fnma(const P& a, const P& b, const P& c) {
        P out;
        for (int n = 0; n < N; ++n) out.v[n] = Ops<V>::fnma(a.v[n], b.v[n], c.v[n]);
        return out;
    }
    FF_INLINE static P rsqrt_estimate(const P& a) {
        P out;
        for (int n = 0; n < N; ++n) out.v[n] = Ops<V>::rsqrt_estimate(a.v[n]);
        return out;
    }
    /// `value` with zeros in the lanes whose number, counted from 0, is `lane`.
    FF_INLINE static P without_lane(const P& value, Scalar lane) {
        P out;
        for (int n = 0; n < N; ++n) {
            const V number = Ops<V>::lanes(static_cast<Scalar>(n * Ops<V>::width));
            out.v[n] = Ops<V>::select(number == Ops<V>::set(lane), Ops<V>::set(Scalar(0)), value.v[n]);
        }
        return out;
    }
};

} // namespace farfield
