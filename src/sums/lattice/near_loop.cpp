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

/// Images that are looked at before those within the cut-off are summed.
constexpr int look_ahead = 512;

/// Images within the cut-off, side by side.
struct Packed {
    alignas(64) double source[3][look_ahead + near_padding];
    alignas(64) double strength[look_ahead + near_padding];
    int count;
};

// Takes the images from `first` on that lie within the cut-off: most of those around a cell do not, and a
// term takes ten times as long as a distance. Images without strength at the cut-off fill the last vector.
FF_INLINE void pack(const NearTile& tile, std::int64_t first, int looked_at, Packed& out) {
    alignas(64) double squares[look_ahead]; // NOLINT(*-member-init): filled below
    int place[look_ahead + 1];              // NOLINT(*-member-init)
    for (int j = 0; j < looked_at; j += O::width) {
        V d[3];
        for (int k = 0; k < 3; ++k) d[k] = O::set(tile.target[k]) - O::load(tile.source[k] + first + j);
        O::store(squares + j, O::fma(d[0], d[0], O::fma(d[1], d[1], d[2] * d[2])));
    }
    int n = 0;
    for (int j = 0; j < looked_at; ++j) {
        place[n] = j;
        n += squares[j] <= tile.cutoff2 ? 1 : 0;
    }
    for (int i = 0; i < n; ++i) {
        const auto j = first + place[i];
        for (int k = 0; k < 3; ++k) out.source[k][i] = tile.source[k][j];
        out.strength[i] = tile.strength[j];
    }
    out.count = n;
    for (; n % O::width != 0; ++n) {
        out.source[0][n] = tile.target[0] + tile.cutoff;
        for (int k = 1; k < 3; ++k) out.source[k][n] = tile.target[k];
        out.strength[n] = 0.0;
    }
}

// With x = αR: φ = erfc(x)/R and −∇φ = d (erfc(x)/R + (2α/√π) exp(−x²))/R².
void sum_near(NearTile& tile) {
    constexpr double two_over_root_pi = 1.1283791670955125739;
    const GaussTerm<V, 1> exponential(1.0 / (tile.alpha * 1.4142135623730950488));
    const V alpha = O::set(tile.alpha);
    const V slope = O::set(tile.alpha * two_over_root_pi);
    const V softening2 = O::set(tile.softening2);
    const V zero = O::set(0.0), one = O::set(1.0);
    const V least = O::set(coincident_square);
    const bool is_soft = tile.softening2 > coincident_square;
    V sums[4] = {zero, zero, zero, zero};
    V coincident = zero;
    Packed packed; // NOLINT(*-member-init): pack fills it
    for (std::int64_t first = 0; first < tile.count; first += look_ahead) {
        const auto rest = tile.count - first;
        pack(tile, first, rest < look_ahead ? static_cast<int>(rest) : look_ahead, packed);
        for (int j = 0; j < packed.count; j += O::width) {
            V d[3];
            for (int k = 0; k < 3; ++k) d[k] = O::set(tile.target[k]) - O::load(packed.source[k] + j);
            const V r2 = O::fma(d[0], d[0], O::fma(d[1], d[1], d[2] * d[2]));
            V q = O::load(packed.strength + j);
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
    }
    for (int k = 0; k < 4; ++k) tile.sums[k] = O::sum(sums[k]);
    tile.coincident = static_cast<std::int64_t>(O::sum(coincident));
}

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_near_images)(farfield::NearTile* tile) { farfield::sum_near(*tile); }
