// Structure factors of a block of points, and sums of waves at a block of points: points side by side in
// registers. Compiled once for each instruction set.
#include "backend/simd/value.h"
#include "math/ops.h"
#include "sums/ewald/wave_tile.h"

#include <cstddef>

namespace farfield {
namespace {

using V = Value<double>;
using O = Ops<V>;

struct Complex {
    V re, im;
};

FF_INLINE Complex product(Complex a, Complex b) {
    return {O::fnma(a.im, b.im, a.re * b.re), O::fma(a.re, b.im, a.im * b.re)};
}

// e^(2πi n x/L) of the points from `at` on, for any sign of n.
FF_INLINE Complex phase(const double* phases, std::int32_t n, std::int64_t at) {
    const double* of = phases + 2 * wave_points * (n < 0 ? -n : n) + at;
    const V im = O::load(of + wave_points);
    return {O::load(of), n < 0 ? O::set(0.0) - im : im};
}

void add_structure(const WaveTile& tile) {
    alignas(64) double re[wave_points], im[wave_points]; // NOLINT(*-member-init): filled below
    for (std::int64_t r = 0; r < tile.row_count; ++r) {
        const auto& row = tile.rows[r];
        for (std::int64_t at = 0; at < wave_points; at += O::width) {
            const V q = O::load(tile.strengths + at);
            const auto yz = product(phase(tile.phases[1], row.y, at), phase(tile.phases[2], row.z, at));
            O::store(re + at, q * yz.re);
            O::store(im + at, q * yz.im);
        }
        for (std::int32_t x = 0; x <= row.last_x; ++x) {
            V sum_re = O::set(0.0), sum_im = O::set(0.0);
            const double* cos = tile.phases[0] + 2 * wave_points * x;
            const double* sin = cos + wave_points;
            for (std::int64_t at = 0; at < wave_points; at += O::width) {
                const Complex x_phase{O::load(cos + at), O::load(sin + at)};
                const Complex w{O::load(re + at), O::load(im + at)};
                sum_re = O::fma(w.re, x_phase.re, O::fnma(w.im, x_phase.im, sum_re));
                sum_im = O::fma(w.re, x_phase.im, O::fma(w.im, x_phase.re, sum_im));
            }
            double* out = tile.structure + 2 * (row.first + x);
            out[0] += O::sum(sum_re);
            out[1] -= O::sum(sum_im);
        }
    }
}

// Of waves C e^(ik·x), Re Σ and the negative gradient: −∂Re(C e^(ik·x)) = k Im(C e^(ik·x)).
template <bool with_field>
void sum_waves(const WaveTile& tile) {
    for (std::int64_t at = 0; at < wave_points; at += O::width) {
        V potential = O::set(0.0);
        V field[3] = {potential, potential, potential};
        for (std::int64_t r = 0; r < tile.row_count; ++r) {
            const auto& row = tile.rows[r];
            const double* c = tile.coefficients + 2 * row.first;
            const double* along = tile.x_coefficients + 2 * row.first;
            Complex sum{O::set(0.0), O::set(0.0)};
            Complex slope = sum;
            for (std::int64_t x = 0; x <= row.last_x; ++x) {
                const double* of = tile.phases[0] + 2 * wave_points * x + at;
                const V cos = O::load(of), sin = O::load(of + wave_points);
                const V re = O::set(c[2 * x]), im = O::set(c[2 * x + 1]);
                sum.re = O::fma(re, cos, O::fnma(im, sin, sum.re));
                sum.im = O::fma(re, sin, O::fma(im, cos, sum.im));
                if constexpr (with_field) {
                    const V x_re = O::set(along[2 * x]), x_im = O::set(along[2 * x + 1]);
                    slope.re = O::fma(x_re, cos, O::fnma(x_im, sin, slope.re));
                    slope.im = O::fma(x_re, sin, O::fma(x_im, cos, slope.im));
                }
            }
            const auto yz = product(phase(tile.phases[1], row.y, at), phase(tile.phases[2], row.z, at));
            potential = potential + O::fnma(sum.im, yz.im, sum.re * yz.re);
            if constexpr (with_field) {
                const V im = O::fma(sum.re, yz.im, sum.im * yz.re);
                field[0] = field[0] + O::fma(slope.re, yz.im, slope.im * yz.re);
                field[1] = O::fma(O::set(tile.unit_y * row.y), im, field[1]);
                field[2] = O::fma(O::set(tile.unit_z * row.z), im, field[2]);
            }
        }
        O::store(tile.potential + at, potential);
        for (int k = 0; k < 3 && with_field; ++k) O::store(tile.field[k] + at, field[k]);
    }
}

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_waves)(bool at_targets, const farfield::WaveTile* tile) {
    if (!at_targets)
        farfield::add_structure(*tile);
    else if (tile->field[0] != nullptr)
        farfield::sum_waves<true>(*tile);
    else
        farfield::sum_waves<false>(*tile);
}
