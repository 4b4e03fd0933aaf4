// Tables 2 and 3 of "How to obtain efficient GPU kernels" (Cruz, Layton, Barba 2011), and what else it says
// of its M2L kernels. Nothing here is measured by Farfield.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace farfield::m2l2d::seeds {

/// A row of a table. Giga-operations count 28·p·(p + 7) a translation, GB are of 2³⁰ bytes.
struct Row {
    double kernel_seconds, reduction_seconds, to_gpu_seconds, to_host_seconds, gops, gigabytes, millions;
};

struct Card {
    std::string_view name, table;
    double peak_gops;                       ///< "the practical peak" of multiply-adds
    double dual_gops;                       ///< with the second multiply, or the same
    std::array<std::array<Row, 6>, 3> rows; ///< by p = 8, 12, 16 and the number of translations
};

inline constexpr std::array<std::int64_t, 6> translations{2160, 9072, 36720, 147312, 589680, 2359152};

/// The text's figures of the kernel by diagonals on the C1060, 4.1.1.
constexpr double diagonals_gops = 20, diagonals_millions = 2.5;
/// Matrices of p = 12 that fit into its shared memory, 4.1.1.
constexpr int stored_matrices = 6;

constexpr double operations(int p) { return 28.0 * p * (p + 7); }
/// Bytes of a translation behind the tables' GB/s.
constexpr double bytes(int p) { return 8.0 * p * 28 / 27 + 8 + 16.0 / 27; }

/// "In the order of" so many points, near field and downward sweep take about so much of a serial program's
/// time, 2.1. The downward sweep is M2L and L2L.
inline constexpr std::array<std::int64_t, 2> whole_sums{4000000, 10000000};
inline constexpr std::array<double, 2> near_and_downward_percent{95, 99};

extern const std::array<Card, 2> cards;

} // namespace farfield::m2l2d::seeds
