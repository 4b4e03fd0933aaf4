// Images around a target, side by side in registers; compiled once for each instruction set.
#include "backend/simd/value.h"
#include "sums/kernels/gauss_term.h"
#include "sums/kernels/inverse_distance.h"
#include "sums/lattice/complementary_error.h"
#include "sums/lattice/near_tile.h"

namespace farfield {
namespace {

using V = Value<double>;
using O = Ops<V>;

// With x = αR: φ = erfc(x)/R and −∇φ = d (erfc(x)/R + (2α/√π) exp(−x²))/R².
void sum_near(NearTile& tile) {
    constexpr double two_over_root_pi = 1.1283791670955125739;
    const GaussTerm<V, 1> exponential(1.0 / (tile.alpha * 1.4142135623730950488));
    const V alpha = O::set(tile.alpha);
    const V slope = O::set(tile.alpha * two_over_root_pi);
    const V cutoff2 = O::set(tile.cutoff2), softening2 = O::set(tile.softening2);
    const V zero = O::set(0.0), one = O::set(1.0);
    const V least = O::set(coincident_square);
    const bool is_soft = tile.softening2 > coincident_square;
    V sums[4] = {zero, zero, zero, zero};
    V coincident = zero;
    for (std::int64_t j = 0; j < tile.count; j += O::width) {
        V d[3];
        for (int k = 0; k < 3; ++k) d[k] = O::set(tile.target[k]) - O::load(tile.source[k] + j);
        const V r2 = O::fma(d[0], d[0], O::fma(d[1], d[1], d[2] * d[2]));
        V q = O::select(r2 <= cutoff2, O::load(tile.strength + j), zero);
        V square = r2 + softening2;
        if (!is_soft) {
            const auto meets = r2 <= least;
            coincident = coincident + O::select(meets, one, zero);
            q = O::select(meets, zero, q);
            square = O::select(meets, one, square);
        }
        const V inverse = O::set(InversePower<V, 1>::factor) * inverse_distance(square);
        const V root = square * inverse;
        const V gauss = exponential(Pack<V, 1>{{square}}).v[0];
        const V potential = inverse * gauss * scaled_complementary_error(alpha * root);
        const V weighted = q * potential;
        sums[0] = sums[0] + weighted;
        const V weight = O::fma(q * slope, gauss, weighted) * (inverse * inverse);
        for (int k = 0; k < 3; ++k) sums[1 + k] = O::fma(weight, d[k], sums[1 + k]);
    }
    for (int k = 0; k < 4; ++k) tile.sums[k] = O::sum(sums[k]);
    tile.coincident = static_cast<std::int64_t>(O::sum(coincident));
}

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_near_images)(farfield::NearTile* tile) { farfield::sum_near(*tile); }
