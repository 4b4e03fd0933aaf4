// A local expansion in float, as kernels evaluate it: low orders leave no more digits than floats have.
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

} // namespace farfield
