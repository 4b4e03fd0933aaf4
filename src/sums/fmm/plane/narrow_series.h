// Expansions in float, as kernels form and evaluate them: low orders leave no more digits than floats have.
#pragma once

#include "math/host_device.h"
#include "sums/fmm/plane/tensor_operators.h"

namespace farfield {

/// F = C + Σ c_n u^(n+1) with c_n = g_n/(n + 1), and w, its derivative; u counts from the centre, in widths
/// of the cell.
template <int terms>
struct NarrowSeries {
    float constant = 0.0F, re[terms] = {}, im[terms] = {};

    struct Value {
        float potential, w_re, w_im;
    };

    FF_HD void set(int n, const PlaneNumber& g) {
        re[n] = static_cast<float>(g.re) * (1.0F / static_cast<float>(n + 1));
        im[n] = static_cast<float>(g.im) * (1.0F / static_cast<float>(n + 1));
    }

    /// By Horner's rule, and the same for the derivative beside it.
    [[nodiscard]] FF_HD Value at(float x, float y) const {
        float a = re[terms - 1], b = im[terms - 1], slope_a = 0.0F, slope_b = 0.0F;
        for (int n = terms - 2; n >= 0; --n) {
            step(slope_a, slope_b, x, y, a, b);
            step(a, b, x, y, re[n], im[n]);
        }
        step(slope_a, slope_b, x, y, a, b);
        return {constant + (x * a - y * b), slope_a, slope_b};
    }

private:
    /// (a + ib)(x + iy) + more
    FF_HD static void step(float& a, float& b, float x, float y, float more_a, float more_b) {
        const float product = x * a + (more_a - y * b);
        b = y * a + (x * b + more_b);
        a = product;
    }
};

/// Coefficients k, k + lanes, … of a multipole expansion, Σ q u^k; u counts from the centre, in widths of the
/// cell. Of a lane, which is k.
template <int numbers, int lanes, bool is_complex>
struct NarrowPowers {
    float re[numbers] = {}, im[numbers] = {};

    /// A point u = x + iy of strength a + ib.
    FF_HD void add(float x, float y, float a, float b, int lane) {
        float all_x = 1.0F, all_y = 0.0F; // u^lanes
        float at_x = 1.0F, at_y = 0.0F;   // u^lane
        for (int k = 0; k < lanes; ++k) {
            if (k == lane) {
                at_x = all_x;
                at_y = all_y;
            }
            turn_by(all_x, all_y, x, y);
        }
        for (int c = 0; c < numbers; ++c) {
            re[c] += a * at_x;
            im[c] += a * at_y;
            if constexpr (is_complex) {
                re[c] -= b * at_y;
                im[c] += b * at_x;
            }
            if (c + 1 < numbers) turn_by(at_x, at_y, all_x, all_y);
        }
    }

private:
    FF_HD static void turn_by(float& a, float& b, float x, float y) {
        const float product = a * x - b * y;
        b = a * y + b * x;
        a = product;
    }
};

} // namespace farfield
