// How the sum over waves is divided for a GPU, in the order in which its parts are added. Pure functions of
// the box, the cut-offs and the numbers of points, so that no GPU decides the bits.
#pragma once

#include "sums/ewald/wave_table.h"

#include <array>
#include <cstdint>
#include <vector>

namespace farfield {

// Structure factors: a block of threads has the waves of some rows, a few n_x each, and a part of the points.
inline constexpr int structure_threads = 64, rows_of_a_thread = 2, columns_of_a_tile = 8;
inline constexpr int rows_of_a_tile = structure_threads * rows_of_a_thread;
// Sums at targets: a block has some targets and a part of the rows.
inline constexpr int sum_threads = 128, targets_of_a_thread = 2;
inline constexpr int targets_of_a_block = sum_threads * targets_of_a_thread;

struct StructureTile {
    std::int32_t first_row = 0, rows = 0, first_x = 0;
};

struct GpuWaves {
    WaveTable table; ///< longest rows first
    std::vector<StructureTile> tiles;

    GpuWaves() = default;
    explicit GpuWaves(WaveTable waves);

    /// Phases of a point: those of x, y and z one after the other, n = 0, 1, … last.
    [[nodiscard]] std::array<std::int32_t, 3> first_phase() const;
    [[nodiscard]] std::int32_t phases() const;
};

/// Points whose phases are kept at a time, and parts of sources and of rows.
struct GpuWaveParts {
    std::int32_t batch = 0;
    std::int32_t of_sources = 1;
    std::vector<std::int32_t> first_rows; ///< of each part of the rows, and the end
};
GpuWaveParts gpu_wave_parts(const GpuWaves& waves, std::int64_t sources, std::int64_t targets);

/// What waves, phases and parts take, at most.
double gpu_wave_bytes(const PeriodicFrame& frame, double cutoff, double sources, double targets);

} // namespace farfield
