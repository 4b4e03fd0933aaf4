// The tile of mesh points around a bin, in shared memory, for splines of an order that is known when the code
// is compiled.
#pragma once

#include "sums/pme/cuda/mesh_task.cuh"

#include <utility>

namespace farfield::cuda {

constexpr FF_HD int tile_side_of(int order) { return bin_side + order - 1; }

/// Which mesh point each of a tile's stands for.
template <int P>
struct TilePlaces {
    static constexpr int side = tile_side_of(P), size = side * side * side;
    int at[3][side];

    /// By all threads of a block.
    __device__ void set(const MeshShape& shape, std::int32_t bin) {
        int first[3];
        shape.first_of_tile(bin, first);
        for (int i = static_cast<int>(threadIdx.x); i < 3 * side; i += static_cast<int>(blockDim.x)) {
            const int axis = i / side, n = shape.mesh[axis];
            const int rest = (first[axis] + i % side) % n;
            at[axis][i % side] = rest < 0 ? rest + n : rest;
        }
    }
    /// Of number i of the tile, x fastest.
    [[nodiscard]] __device__ std::int64_t index(const MeshShape& shape, int i) const {
        const int row = i / side;
        return (static_cast<std::int64_t>(at[2][row / side]) * shape.mesh[1] + at[1][row % side]) *
                   shape.mesh[0] +
               at[0][i % side];
    }
};

/// Σ_k c_k s^k of mesh point j of a row of `row` mesh points; `count` powers.
__device__ inline double evaluate_spline(const double* powers, int count, int row, double s, int j) {
    double out = powers[(count - 1) * row + j];
    for (int k = count - 2; k >= 0; --k) out = fma(out, s, powers[k * row + j]);
    return out;
}

/// Calls body.operator()<P>() for the order P.
template <class Body>
void with_order(int order, const Body& body) {
    const auto each = [&]<int... Orders>(std::integer_sequence<int, Orders...> /*from the least*/) {
        static_cast<void>(((order == least_spline_order + Orders
                                ? (body.template operator()<least_spline_order + Orders>(), true)
                                : false) ||
                           ...));
    };
    each(std::make_integer_sequence<int, most_spline_order - least_spline_order + 1>());
}

} // namespace farfield::cuda
