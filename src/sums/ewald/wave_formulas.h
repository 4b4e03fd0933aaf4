// Phases e^(inθ) and sums of waves at a point, for the host and for GPUs.
#pragma once

#include "math/ops.h"
#include "math/portable/functions.h"

#include <cstdint>

namespace farfield {

struct alignas(16) Phase {
    double re = 0.0, im = 0.0;
};

FF_INLINE Phase product(const Phase& a, const Phase& b) {
    using O = Ops<double>;
    return {O::fnma(a.im, b.im, a.re * b.re), O::fma(a.re, b.im, a.im * b.re)};
}

/// *Writes* e^(inθ) to at(n), n = 0 … last, as e^(i⌊n/2⌋θ) e^(i⌈n/2⌉θ): errors grow as n, as those of nθ.
template <class At>
FF_HD void write_phases(double angle, int last, const At& at) {
    at(0) = Phase{1.0, 0.0};
    at(1) = Phase{portable::cos(angle), portable::sin(angle)};
    for (int n = 2; n <= last; ++n) {
        const Phase low = at(n / 2), high = at(n - n / 2);
        at(n) = product(low, high);
    }
}

/// Σ c_n t^n and its derivative, by Horner's scheme: c of the largest n first.
template <bool with_slope>
struct RowSum {
    Phase sum, slope;

    FF_INLINE void add(const Phase& c, const Phase& t) {
        using O = Ops<double>;
        if constexpr (with_slope)
            slope = {O::fma(slope.re, t.re, O::fnma(slope.im, t.im, sum.re)),
                     O::fma(slope.re, t.im, O::fma(slope.im, t.re, sum.im))};
        sum = {O::fma(sum.re, t.re, O::fnma(sum.im, t.im, c.re)),
               O::fma(sum.re, t.im, O::fma(sum.im, t.re, c.im))};
    }
};

/// Of waves C e^(ik·x), Re Σ and the negative gradient: −∂Re(C e^(ik·x)) = k Im(C e^(ik·x)).
template <bool with_field>
struct WaveSum {
    double potential = 0.0, field[3] = {0.0, 0.0, 0.0};

    /// Waves of one n_y and n_z. @param t  e^(2πi x/L_x) @param yz  e^(ik·x) of n_x = 0 @param k_y, k_z  of
    /// the row
    FF_INLINE void add(const RowSum<with_field>& row, const Phase& t, const Phase& yz, double k_x, double k_y,
                       double k_z) {
        using O = Ops<double>;
        potential += O::fnma(row.sum.im, yz.im, row.sum.re * yz.re);
        if constexpr (with_field) {
            const Phase along = product(t, row.slope); // Σ n c_n t^n
            const double im = O::fma(row.sum.re, yz.im, row.sum.im * yz.re);
            field[0] = O::fma(k_x, O::fma(along.re, yz.im, along.im * yz.re), field[0]);
            field[1] = O::fma(k_y, im, field[1]);
            field[2] = O::fma(k_z, im, field[2]);
        }
    }
};

} // namespace farfield
