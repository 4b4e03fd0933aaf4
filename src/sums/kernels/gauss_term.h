// e^(−r²/2σ²) over packs of values, for loops: 2^(n + f) with a whole n and |f| ≤ ½, the power of two by its
// bits and 2^f by a polynomial (minimax but for its first coefficient, which is 1; relative error 6e-16 in
// double and 6e-9 in float). Rounding of the exponent x moves e^x by x e^x ε at most, hence by less than ε.
// Include it only in sources compiled for one instruction set.
#pragma once

#include "math/ops.h"
#include "math/pack.h"
#include "math/portable/lanes.h"
#if !defined(FF_ISA_SCALAR)
#include "backend/simd/portable_lanes.h"
#endif

#include <algorithm>
#include <array>
#include <cstddef>

namespace farfield {

template <class T>
struct GaussConstants;

template <>
struct GaussConstants<double> {
    static constexpr double integers = 0x1.8p52; ///< sums with it are rounded to whole numbers
    static constexpr double vanishing = 1023.0;  ///< its power of two has the bits of 0
    static constexpr auto power() {
        return std::array{0x1.62e42fefa39f7p-1,  0x1.ebfbdff82c590p-3,  0x1.c6b08d7044119p-5,
                          0x1.3b2ab6fba385fp-7,  0x1.5d87fe908f88ap-10, 0x1.4309130378460p-13,
                          0x1.ffcb76789860fp-17, 0x1.62bfe46117445p-20, 0x1.b6571de2f2351p-24,
                          0x1.e5e9f548e5725p-28};
    }
};

template <>
struct GaussConstants<float> {
    static constexpr float integers = 0x1.8p23F;
    static constexpr float vanishing = 127.0F;
    static constexpr auto power() {
        return std::array{0x1.62e430p-1F, 0x1.ebfbe0p-3F,  0x1.c6af6cp-5F,
                          0x1.3b2a54p-7F, 0x1.5f0890p-10F, 0x1.44138ap-13F};
    }
};

template <class V, int N>
class GaussTerm {
    using T = typename Ops<V>::Scalar;
    using P = Pack<V, N>;
    using O = Ops<P>;
    using Constants = GaussConstants<T>;
    static constexpr double log2_e = 1.4426950408889634;
    T scale_; ///< log₂ e / 2σ²

    FF_INLINE static P lesser(P a, V b) {
        using std::min;
        for (int n = 0; n < N; ++n) a.v[n] = min(a.v[n], b);
        return a;
    }
    /// p·2^n; the low bits of `shifted` are n.
    FF_INLINE static P times_power(P p, const P& shifted) {
        using L = portable::Lanes<V>;
        constexpr int bits = portable::Format<T>::mantissa_bits;
        for (int n = 0; n < N; ++n) p.v[n] = L::value(L::bits(p.v[n]) + (L::bits(shifted.v[n]) << bits));
        return p;
    }

public:
    explicit GaussTerm(double sigma) : scale_(static_cast<T>(0.5 * log2_e / (sigma * sigma))) {}

    /// 0 where it is less than about 2^−vanishing.
    FF_INLINE P operator()(const P& r2) const {
        const P integers = O::set(Constants::integers);
        const P x = lesser(r2 * O::set(scale_), Ops<V>::set(Constants::vanishing));
        const P shifted = integers - x;
        const P f = (integers - shifted) - x;
        constexpr auto c = Constants::power();
        P sum = O::set(c[c.size() - 1]);
        for (std::size_t k = c.size() - 1; k-- > 0;) sum = O::fma(sum, f, O::set(c[k]));
        return times_power(O::fma(sum, f, O::set(T(1))), shifted);
    }
};

} // namespace farfield
