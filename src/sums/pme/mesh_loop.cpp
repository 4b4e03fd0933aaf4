// Points spread onto a mesh, and gathered from it: mesh points of a row side by side in registers. Compiled
// once for each instruction set.
#include "backend/simd/value.h"
#include "math/ops.h"
#include "sums/pme/mesh_tile.h"

namespace farfield {
namespace {

using V = Value<double>;
using O = Ops<V>;
constexpr std::ptrdiff_t width = O::width; ///< as an offset

// Σ_k c_k s^k for each mesh point of a row, by Horner.
template <int vectors>
FF_INLINE void evaluate(const double* powers, int count, double s, V (&out)[vectors]) {
    constexpr std::ptrdiff_t row = vectors * width;
    const V at = O::set(s);
    for (int v = 0; v < vectors; ++v) out[v] = O::load(powers + (count - 1) * row + v * width);
    for (int k = count - 2; k >= 0; --k)
        for (int v = 0; v < vectors; ++v) out[v] = O::fma(out[v], at, O::load(powers + k * row + v * width));
}

template <int vectors>
FF_INLINE void evaluate_to(const double* powers, int count, double s, double* out) {
    V weights[vectors];
    evaluate(powers, count, s, weights);
    for (int v = 0; v < vectors; ++v) O::store(out + v * width, weights[v]);
}

template <int vectors>
void spread(const MeshTile& tile) {
    alignas(64) double y_weight[vectors * O::width], z_weight[vectors * O::width]; // NOLINT(*-member-init)
    for (std::int64_t i = 0; i < tile.count; ++i) {
        V x_weight[vectors];
        evaluate(tile.values, tile.order, tile.fraction[0][i] - 0.5, x_weight);
        evaluate_to<vectors>(tile.values, tile.order, tile.fraction[1][i] - 0.5, y_weight);
        evaluate_to<vectors>(tile.values, tile.order, tile.fraction[2][i] - 0.5, z_weight);
        double* const first = tile.mesh + tile.offset[i];
        for (int z = 0; z < tile.order; ++z) {
            const double along_z = tile.strength[i] * z_weight[z];
            for (int y = 0; y < tile.order; ++y) {
                const V weight = O::set(along_z * y_weight[y]);
                double* const at = first + z * tile.plane + y * tile.row;
                for (int v = 0; v < vectors; ++v)
                    O::store(at + v * width, O::fma(weight, x_weight[v], O::load(at + v * width)));
            }
        }
    }
}

template <int vectors, bool with_field>
void gather(const MeshTile& tile) {
    constexpr int row = vectors * O::width;
    alignas(64) double weight[2][row], slope[2][row]; // NOLINT(*-member-init)
    const V zero = O::set(0.0);
    for (std::int64_t i = 0; i < tile.count; ++i) {
        for (int k = 0; k < 2; ++k) {
            const double s = tile.fraction[1 + k][i] - 0.5;
            evaluate_to<vectors>(tile.values, tile.order, s, weight[k]);
            if (with_field) evaluate_to<vectors>(tile.slopes, tile.order - 1, s, slope[k]);
        }
        V sum[vectors], sum_y[vectors], sum_z[vectors];
        for (int v = 0; v < vectors; ++v) sum[v] = sum_y[v] = sum_z[v] = zero;
        const double* const first = tile.mesh + tile.offset[i];
        for (int z = 0; z < tile.order; ++z) {
            V of_plane[vectors], slope_y[vectors];
            for (int v = 0; v < vectors; ++v) of_plane[v] = slope_y[v] = zero;
            for (int y = 0; y < tile.order; ++y) {
                const V along_y = O::set(weight[0][y]), down_y = O::set(with_field ? slope[0][y] : 0.0);
                const double* const at = first + z * tile.plane + y * tile.row;
                for (int v = 0; v < vectors; ++v) {
                    const V value = O::load(at + v * width);
                    of_plane[v] = O::fma(along_y, value, of_plane[v]);
                    if (with_field) slope_y[v] = O::fma(down_y, value, slope_y[v]);
                }
            }
            const V along_z = O::set(weight[1][z]), down_z = O::set(with_field ? slope[1][z] : 0.0);
            for (int v = 0; v < vectors; ++v) {
                sum[v] = O::fma(along_z, of_plane[v], sum[v]);
                if (!with_field) continue;
                sum_y[v] = O::fma(along_z, slope_y[v], sum_y[v]);
                sum_z[v] = O::fma(down_z, of_plane[v], sum_z[v]);
            }
        }
        V x_weight[vectors];
        evaluate(tile.values, tile.order, tile.fraction[0][i] - 0.5, x_weight);
        V potential = zero;
        for (int v = 0; v < vectors; ++v) potential = O::fma(x_weight[v], sum[v], potential);
        tile.potential[i] = O::sum(potential);
        if (!with_field) continue;
        V x_slope[vectors];
        evaluate(tile.slopes, tile.order - 1, tile.fraction[0][i] - 0.5, x_slope);
        V field[3] = {zero, zero, zero};
        for (int v = 0; v < vectors; ++v) {
            field[0] = O::fma(x_slope[v], sum[v], field[0]);
            field[1] = O::fma(x_weight[v], sum_y[v], field[1]);
            field[2] = O::fma(x_weight[v], sum_z[v], field[2]);
        }
        for (int k = 0; k < 3; ++k) tile.field[k][i] = -tile.per_length[k] * O::sum(field[k]);
    }
}

template <int vectors>
void run(bool gathers, const MeshTile& tile) {
    if (!gathers)
        spread<vectors>(tile);
    else if (tile.field[0] != nullptr)
        gather<vectors, true>(tile);
    else
        gather<vectors, false>(tile);
}

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_mesh)(bool gathers, const farfield::MeshTile* tile) {
    constexpr int width = farfield::O::width;
    if (tile->order <= 8)
        farfield::run<8 / width>(gathers, *tile);
    else
        farfield::run<16 / width>(gathers, *tile);
}
