#include "sums/ewald/gpu_waves.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

namespace farfield {
namespace {

constexpr double bytes_of_phases = 0x1p25; ///< of a batch: they stay in a GPU's cache
constexpr std::int64_t least_batch = 1024;
constexpr std::int64_t enough_blocks = 2048;                 ///< to keep all multiprocessors busy
constexpr std::int64_t least_sources = 128, least_rows = 16; ///< of a part

std::int64_t ratio_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t batch_of(double phases, std::int64_t sources, std::int64_t targets) {
    const auto fits = static_cast<std::int64_t>(bytes_of_phases / (16.0 * phases));
    const auto most = std::max(least_batch, fits / targets_of_a_block * targets_of_a_block);
    const auto needed = ratio_up(std::max<std::int64_t>({sources, targets, 1}), targets_of_a_block);
    return std::min(most, needed * targets_of_a_block);
}

} // namespace

GpuWaves::GpuWaves(WaveTable waves) : table(std::move(waves)) {
    const auto given = std::exchange(table.rows, {});
    const auto factors = std::exchange(table.factors, {});
    std::vector<std::size_t> order(given.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return given[a].last_x > given[b].last_x; });
    for (const auto at : order) {
        auto row = given[at];
        const auto from = factors.begin() + static_cast<std::ptrdiff_t>(row.first);
        row.first = table.count();
        table.factors.insert(table.factors.end(), from, from + row.last_x + 1);
        table.rows.push_back(row);
    }
    for (std::int32_t x = 0; x <= table.last[0]; x += columns_of_a_tile) {
        const auto end = std::partition_point(table.rows.begin(), table.rows.end(),
                                              [&](const WaveRow& row) { return row.last_x >= x; });
        const auto rows = static_cast<std::int32_t>(end - table.rows.begin());
        for (std::int32_t first = 0; first < rows; first += rows_of_a_tile)
            tiles.push_back({first, std::min(rows_of_a_tile, rows - first), x});
    }
}

std::array<std::int32_t, 3> GpuWaves::first_phase() const {
    std::array<std::int32_t, 3> out{};
    for (std::size_t k = 1; k < 3; ++k) out[k] = out[k - 1] + std::max(table.last[k - 1], 1) + 1;
    return out;
}

std::int32_t GpuWaves::phases() const { return first_phase()[2] + std::max(table.last[2], 1) + 1; }

GpuWaveParts gpu_wave_parts(const GpuWaves& waves, std::int64_t sources, std::int64_t targets) {
    GpuWaveParts out;
    const auto batch = batch_of(waves.phases(), sources, targets);
    out.batch = static_cast<std::int32_t>(batch);
    const auto tiles = std::max<std::int64_t>(1, static_cast<std::int64_t>(waves.tiles.size()));
    out.of_sources = static_cast<std::int32_t>(std::clamp<std::int64_t>(
        std::min(batch, sources) / least_sources, 1, ratio_up(enough_blocks, tiles)));
    const auto blocks = ratio_up(std::max<std::int64_t>(std::min(batch, targets), 1), targets_of_a_block);
    const auto& rows = waves.table.rows;
    const auto row_count = static_cast<std::int64_t>(rows.size());
    const auto parts = std::clamp<std::int64_t>(row_count / least_rows, 1, ratio_up(enough_blocks, blocks));
    for (std::int64_t part = 0; part < parts; ++part) { // about as many waves each
        const auto first = waves.table.count() * part / parts;
        const auto at = std::partition_point(rows.begin(), rows.end(),
                                             [&](const WaveRow& row) { return row.first < first; });
        out.first_rows.push_back(static_cast<std::int32_t>(at - rows.begin()));
    }
    out.first_rows.push_back(static_cast<std::int32_t>(row_count));
    return out;
}

double gpu_wave_bytes(const PeriodicFrame& frame, double cutoff, double sources, double targets) {
    const double waves = wave_count(frame, cutoff);
    double phases = 3.0;
    for (const double length : frame.length) phases += std::max(1.0, cutoff * length / 6.28);
    const auto batch = static_cast<double>(
        batch_of(phases, static_cast<std::int64_t>(sources), static_cast<std::int64_t>(targets)));
    constexpr double waves_of_a_tile = rows_of_a_tile * columns_of_a_tile;
    const double tiles = std::max(1.0, std::ceil(waves / waves_of_a_tile));
    const double of_sources = std::clamp(std::min(batch, sources) / static_cast<double>(least_sources), 1.0,
                                         std::ceil(static_cast<double>(enough_blocks) / tiles));
    const double blocks = std::ceil(std::min(batch, std::max(targets, 1.0)) / targets_of_a_block);
    const double rows = waves / (0.67 * std::max(1.0, cutoff * frame.length[0] / 6.28)) + 1.0;
    const double of_rows = std::clamp(rows / static_cast<double>(least_rows), 1.0,
                                      std::ceil(static_cast<double>(enough_blocks) / blocks));
    return 16.0 * phases * batch + 16.0 * waves * (of_sources + 1.0) + 8.0 * waves + 24.0 * rows +
           32.0 * batch * of_rows;
}

} // namespace farfield
