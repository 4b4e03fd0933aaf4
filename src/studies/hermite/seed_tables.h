// Tables 4 and 5 of "How to obtain efficient GPU kernels" (Cruz, Layton, Barba 2011), and what else it says
// of its Hermite kernel. Nothing here is measured by Farfield.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace farfield::hermite::seeds {

/// Particles a second on 1, 2 and 4 cores; giga-operations and particles a second on the GPU.
struct Row {
    std::array<double, 3> cores;
    double gops, gpu;

    [[nodiscard]] double over_one() const { return gpu / cores[0]; }
    [[nodiscard]] double over_four() const { return gpu / cores[2]; }
    [[nodiscard]] double operations() const { return 1e9 * gops / gpu; } ///< a particle
};

struct Machine {
    std::string_view name, table;
    double peak_gops;                       ///< 3.2 and 4.2.7: the most that the card does
    std::array<std::array<Row, 5>, 3> rows; ///< by p = 5, 9, 12 and the number of particles
};

inline constexpr std::array<std::int64_t, 5> particles{25600, 102400, 409600, 1638400, 6553600};
inline constexpr std::array<int, 3> cores{1, 2, 4};

/// What `clusters_evaluated` clusters take for a particle, within 0.5 % of the tables.
constexpr double operations(int p, int clusters) {
    return static_cast<double>(clusters) * p * p * (8 * p + 30);
}

/// The text of 4.2.7: "around" so many times four cores with the Fermi and the Tesla card, and from so many
/// to so many times one core.
constexpr double times_four_fermi = 25, times_four_tesla = 30, times_one_least = 100, times_one_most = 120;
/// Share of a whole transform, 4.2.
constexpr double share_percent = 90;

extern const std::array<Machine, 2> machines;

} // namespace farfield::hermite::seeds
