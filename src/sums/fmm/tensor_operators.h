// Translations across a level for the tensor cores of a GPU: each offset's matrix with its signs, in the
// order in which a warp holds the first factor of mma.m16n8k8 (TF32). Numbers are kept in half precision,
// which has as many bits as TF32, and a power of two brings them into its range. Made and tested on the host.
#pragma once

#include "math/host_device.h"
#include "sums/fmm/plain_operators.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace farfield {

/// Targets of one octant, one of each of 4³ parents, share their senders: cells of these parents and of those
/// around them.
namespace tensor_block {
constexpr int parents = 4;        ///< an axis
constexpr int halo = parents + 2; ///< an axis
constexpr int targets = parents * parents * parents;
constexpr int cells = 8 * halo * halo * halo; ///< that may send

/// The place of a cell: octant by octant, x fastest. Components from −1 to `parents`.
FF_HD constexpr int place(int octant, int x, int y, int z) {
    return ((octant * halo + z + 1) * halo + y + 1) * halo + x + 1;
}
} // namespace tensor_block

/// Rounding to TF32 leaves about 4e-5 in the field and 3e-4 in the potential: orders up to this one hide it,
/// and tolerances from this one on bear it.
constexpr int most_hiding_order = 4;
constexpr double least_bearing_tolerance = 1e-3;
constexpr int most_tensor_functions = 64;
constexpr int tensor_step = 8; ///< columns of one mma

/// Whether such operators serve expansions of so many functions.
constexpr bool has_tensor_operators(const FmmOrder& order, int functions) {
    return order.rounded && functions <= most_tensor_functions && order.separation == 1;
}

/// The bits of the number in half precision that is nearest to x, |x| < 2^15; ties away from zero.
std::uint16_t half_bits(float x);
float from_half_bits(std::uint16_t bits);

struct TensorSender {
    std::int32_t matrix = 0; ///< number of its fragments
    std::int32_t shift = 0;  ///< from the target's place, as if its octant were 0, to the sender's
};

/// Lane 4g + t holds rows g and g + 8 of columns 2t and 2t + 1 of a step: columns are taken in this order so
/// that each lane reads two neighbours of the second factor.
struct TensorOperators {
    explicit TensorOperators(const PlainOperators<float>& of);

    int size;   ///< rows and columns, padded: PlainOperators::stride
    int levels; ///< that have matrices of their own, the last for all that are deeper
    /// Of each matrix: [row / 16][column / 16][lane][8]. Level l begins with matrix l·matrices_a_level.
    std::vector<std::uint16_t> fragments;
    /// Of each matrix: its functions, padded to 16. Beyond them it is zero.
    std::vector<std::uint8_t> sizes;
    std::int32_t matrices_a_level = 0;
    std::vector<float> scales;         ///< that entries of a level count times
    std::vector<TensorSender> senders; ///< of octant o: [first_sender[o], first_sender[o + 1])
    std::int32_t first_sender[9] = {};

    [[nodiscard]] std::size_t numbers_a_matrix() const {
        return static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
    }
    /// Where the entry of a row and a column stands within a matrix.
    [[nodiscard]] std::size_t at(int row, int column) const;
};

} // namespace farfield
