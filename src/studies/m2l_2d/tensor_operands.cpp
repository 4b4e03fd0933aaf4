#include "studies/m2l_2d/tensor_operands.h"

#include <bit>
#include <complex>
#include <cstdint>

namespace farfield::m2l2d {

float in_tf32(double value) {
    constexpr std::uint32_t dropped = 13;
    auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    const std::uint32_t half = 1U << (dropped - 1U), odd = bits >> dropped & 1U;
    bits += half - 1U + odd; // to nearest, ties to even; a carry goes on into the exponent
    return std::bit_cast<float>(bits >> dropped << dropped);
}

std::vector<TensorOperand> tensor_operands(int terms) {
    using Double = std::complex<double>;
    const auto powers = offset_powers(terms), logs = offset_logs();
    const auto h = shared_operator<16, double>(); // its corner is that of fewer terms
    std::vector<TensorOperand> out;
    for (int quarter = 0; quarter < quarters; ++quarter)
        for (int slot = 0; slot < list_size; ++slot) {
            const int turned_round = (quarter + 2) % quarters;
            const auto row =
                static_cast<std::size_t>(turned_round) * list_size + static_cast<std::size_t>(slot);
            const auto power = [&](int k) {
                const auto& value =
                    powers[row * static_cast<std::size_t>(terms) + static_cast<std::size_t>(k)];
                return Double(value.re, value.im);
            };
            for (int step = 0; step < column_steps(terms); ++step)
                for (int tile = 0; tile < row_tiles(terms); ++tile)
                    for (int lane = 0; lane < 32; ++lane) {
                        const int n = 8 * tile + lane / 4, k = 4 * step + lane % 4;
                        Double entry = 0;
                        if (n < terms) entry = h.at[n][k] * (n % 2 == 0 ? 1.0 : -1.0) * power(n) * power(k);
                        if (n == 0 && k == 0) entry = Double(logs[row].re, logs[row].im);
                        const float re = in_tf32(entry.real()), im = in_tf32(entry.imag());
                        out.push_back({re, im, in_tf32(entry.real() - static_cast<double>(re)),
                                       in_tf32(entry.imag() - static_cast<double>(im))});
                    }
        }
    return out;
}

} // namespace farfield::m2l2d
