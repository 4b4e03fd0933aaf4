#include "sums/fmm/tensor_operators.h"

#include <bit>
#include <map>
#include <utility>

namespace farfield {
namespace {

/// Components of a sender's parent, −1 to 1, from its place (plain_operators.h).
int shift_of(std::int32_t place) {
    const int slot = place >> 3;
    return tensor_block::place(place & 7, slot % 3 - 1, slot / 3 % 3 - 1, slot / 9 - 1) -
           tensor_block::place(0, 0, 0, 0);
}

} // namespace

float rounded_to_tf32(float x) {
    constexpr std::uint32_t lost = (1U << 13) - 1;
    const auto bits = std::bit_cast<std::uint32_t>(x);
    return std::bit_cast<float>((bits + (lost + 1) / 2) & ~lost);
}

std::size_t TensorOperators::at(int row, int column) const {
    const int tile = row / 16 * (size / tensor_step) + column / tensor_step;
    const int lane = 4 * (row % 8) + column % tensor_step / 2;
    return static_cast<std::size_t>((tile * 32 + lane) * 4 + column % 2 * 2 + row % 16 / 8);
}

TensorOperators::TensorOperators(const PlainOperators<float>& of) : size(of.stride) {
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> made; // by class and mirror image
    const auto sign = [&](int mirror, int i) {
        return of.signs[static_cast<std::size_t>(mirror * of.stride + i)];
    };
    for (int octant = 0; octant < 8; ++octant) {
        for (auto s = of.first_sender[octant]; s < of.first_sender[octant + 1]; ++s) {
            const auto& sender = of.senders[static_cast<std::size_t>(s)];
            const auto [place, is_new] =
                made.try_emplace({sender.matrix, sender.mirror}, static_cast<std::int32_t>(made.size()));
            senders.push_back({place->second, shift_of(sender.place)});
            if (!is_new) continue;
            const auto begin = fragments.size();
            fragments.resize(begin + numbers_a_matrix());
            const auto& matrix = of.across[static_cast<std::size_t>(sender.matrix)];
            for (int column = 0; column < matrix.size; ++column)
                for (int row = 0; row < matrix.size; ++row)
                    fragments[begin + at(row, column)] = rounded_to_tf32(
                        sign(sender.mirror, row) * sign(sender.mirror, column) *
                        of.matrices[static_cast<std::size_t>(matrix.begin) +
                                    static_cast<std::size_t>(column) * static_cast<std::size_t>(matrix.rows) +
                                    static_cast<std::size_t>(row)]);
        }
        first_sender[octant + 1] = static_cast<std::int32_t>(senders.size());
    }
}

} // namespace farfield
