#include "sums/fmm/tensor_operators.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

namespace farfield {
namespace {

/// Components of a sender's parent, −1 to 1, from its place (plain_operators.h).
int shift_of(std::int32_t place) {
    const int slot = place >> 3;
    return tensor_block::place(place & 7, slot % 3 - 1, slot / 3 % 3 - 1, slot / 9 - 1) -
           tensor_block::place(0, 0, 0, 0);
}

/// A power of two that brings the largest entry to just below 2^15.
float scale_of(const PlainOperators<float>& of, std::span<const PlainOperators<float>::Matrix> matrices) {
    float most = 0.0F;
    for (const auto& matrix : matrices)
        for (auto i = matrix.begin; i < matrix.begin + std::int64_t{matrix.size} * matrix.rows; ++i)
            most = std::max(most, std::abs(of.matrices[static_cast<std::size_t>(i)]));
    int exponent = 0;
    std::frexp(most, &exponent);
    return std::ldexp(1.0F, std::min(15 - exponent, 126));
}

} // namespace

std::uint16_t half_bits(float x) {
    if (x == 0.0F) return 0;
    int exponent = 0;
    const float fraction = std::frexp(std::abs(x), &exponent); // in [1/2, 1)
    constexpr int least = -13;                                 // of numbers with all their bits
    const int lost = std::max(0, least - exponent);
    const auto digits = static_cast<int>(std::lround(std::ldexp(fraction, 11 - lost)));
    // a carry, and the first digit of numbers with all their bits, count in the exponent
    const int bits = std::max(0, exponent - least) * 1024 + digits;
    return static_cast<std::uint16_t>((std::signbit(x) ? 0x8000 : 0) + bits);
}

float from_half_bits(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const int digits = (bits & 1023) + (exponent > 0 ? 1024 : 0);
    const auto size = static_cast<float>(std::ldexp(digits, std::max(1, exponent) - 25));
    return (bits & 0x8000) != 0 ? -size : size;
}

std::size_t TensorOperators::at(int row, int column) const {
    const int tile = row / 16 * (size / 16) + column / 16;
    const int lane = 4 * (row % 8) + column % 8 / 2;
    const int number = column % 16 / 8 * 4 + column % 2 * 2 + row % 16 / 8;
    return (static_cast<std::size_t>(tile) * 32 + static_cast<std::size_t>(lane)) * 8 +
           static_cast<std::size_t>(number);
}

TensorOperators::TensorOperators(const PlainOperators<float>& of)
    : size(of.stride), levels(static_cast<int>(of.across.size()) / of.classes) {
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> made; // by class and mirror image
    for (int octant = 0; octant < 8; ++octant) {
        for (auto s = of.first_sender[octant]; s < of.first_sender[octant + 1]; ++s) {
            const auto& sender = of.senders[static_cast<std::size_t>(s)];
            const auto place =
                made.try_emplace({sender.matrix, sender.mirror}, static_cast<std::int32_t>(made.size()));
            senders.push_back({place.first->second, shift_of(sender.place)});
        }
        first_sender[octant + 1] = static_cast<std::int32_t>(senders.size());
    }
    matrices_a_level = static_cast<std::int32_t>(made.size());
    fragments.resize(static_cast<std::size_t>(levels) * made.size() * numbers_a_matrix());
    sizes.resize(static_cast<std::size_t>(levels) * made.size());
    const auto sign = [&](int mirror, int i) {
        return of.signs[static_cast<std::size_t>(mirror) * static_cast<std::size_t>(of.stride) +
                        static_cast<std::size_t>(i)];
    };
    for (int level = 0; level < levels; ++level) {
        const auto first = of.across.begin() + std::ptrdiff_t{level} * of.classes;
        scales.push_back(scale_of(of, {first, first + of.classes}));
        for (const auto& [which, number] : made) {
            const auto at_matrix =
                static_cast<std::size_t>(level) * made.size() + static_cast<std::size_t>(number);
            const auto begin = at_matrix * numbers_a_matrix();
            const auto& matrix = first[which.first];
            sizes[at_matrix] =
                static_cast<std::uint8_t>((matrix.size + plain_padding - 1) / plain_padding * plain_padding);
            for (int column = 0; column < matrix.size; ++column)
                for (int row = 0; row < matrix.size; ++row)
                    fragments[begin + at(row, column)] =
                        half_bits(scales.back() * sign(which.second, row) * sign(which.second, column) *
                                  of.matrices[static_cast<std::size_t>(
                                      matrix.begin + std::int64_t{column} * matrix.rows + row)]);
        }
    }
}

} // namespace farfield
