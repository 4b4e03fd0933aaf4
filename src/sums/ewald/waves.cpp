#include "sums/ewald/waves.h"

#include "backend/threads/parallel.h"
#include "math/portable/functions.h"
#include "sums/direct/cpu/isa_function.h"

#include <algorithm>
#include <cstddef>

namespace farfield {
namespace {

/// Parts of the sources whose structure factors are summed apart, so that threads do not decide the bits.
constexpr std::int64_t most_parts = 16;

} // namespace

struct Waves::Block {
    std::array<AlignedVector<double>, 3> phases;
    AlignedVector<double> strengths = AlignedVector<double>(wave_points);
    std::array<AlignedVector<double>, 4> sums;
};

Waves::Waves(const PeriodicFrame& frame, const Cutoffs& cutoffs, Isa isa, int threads)
    : isa_(isa), threads_(threads), table_(wave_table(frame, cutoffs, threads)) {
    wave_x_.resize(table_.factors.size());
    for (const auto& row : table_.rows)
        for (std::int32_t x = 0; x <= row.last_x; ++x)
            wave_x_[static_cast<std::size_t>(row.first + x)] = table_.unit[0] * x;
}

// e^(inθ) = e^(i⌊n/2⌋θ) e^(i⌈n/2⌉θ): errors grow with the logarithm of n.
WaveTile Waves::phases_of(const LatticePoints& points, std::int64_t first, Block& block) const {
    WaveTile tile{.rows = table_.rows.data(), .row_count = static_cast<std::int64_t>(table_.rows.size())};
    const auto n = static_cast<std::int64_t>(points[0].size());
    for (std::size_t k = 0; k < 3; ++k) {
        auto& phases = block.phases[k];
        phases.resize(static_cast<std::size_t>(2 * wave_points * (std::max(table_.last[k], 1) + 1)));
        double* const table = phases.data();
        const double unit = table_.unit[k];
        for (std::int64_t p = 0; p < wave_points; ++p) {
            const double angle = first + p < n ? unit * points[k][static_cast<std::size_t>(first + p)] : 0.0;
            table[p] = 1.0;
            table[wave_points + p] = 0.0;
            table[2 * wave_points + p] = portable::cos(angle);
            table[3 * wave_points + p] = portable::sin(angle);
        }
        for (std::int32_t m = 2; m <= table_.last[k]; ++m) {
            const double* a = table + 2 * wave_points * (m / 2);
            const double* b = table + 2 * wave_points * (m - m / 2);
            double* out = table + 2 * wave_points * m;
            for (std::int64_t p = 0; p < wave_points; ++p) {
                out[p] = a[p] * b[p] - a[wave_points + p] * b[wave_points + p];
                out[wave_points + p] = a[p] * b[wave_points + p] + a[wave_points + p] * b[p];
            }
        }
        tile.phases[k] = table;
    }
    return tile;
}

void Waves::set_sources(const LatticePoints& sources, std::span<const double> strengths, WorkWatch& watch) {
    const auto n = static_cast<std::int64_t>(strengths.size());
    const auto blocks = (n + wave_points - 1) / wave_points;
    const auto parts = std::clamp<std::int64_t>(blocks / 4, 1, most_parts);
    const auto numbers = 2 * table_.factors.size();
    std::vector<std::vector<double>> sums(static_cast<std::size_t>(parts));
    const auto function = FF_ISA_FUNCTION(ff_waves, isa_);
    parallel_for(threads_, parts, [&](std::int64_t part) {
        auto& structure = sums[static_cast<std::size_t>(part)];
        structure.assign(numbers, 0.0);
        thread_local Block block;
        for (auto b = blocks * part / parts; b < blocks * (part + 1) / parts && !watch.stopped(); ++b) {
            const auto first = b * wave_points;
            auto tile = phases_of(sources, first, block);
            std::fill(block.strengths.begin(), block.strengths.end(), 0.0);
            std::copy_n(strengths.begin() + first, std::min(wave_points, n - first), block.strengths.begin());
            tile.strengths = block.strengths.data();
            tile.structure = structure.data();
            function(false, &tile);
            watch.done(static_cast<double>(wave_points) * static_cast<double>(table_.factors.size()));
        }
    });
    structure_ = std::move(sums.front());
    for (std::size_t part = 1; part < sums.size(); ++part)
        for (std::size_t k = 0; k < numbers; ++k) structure_[k] += sums[part][k];
    coefficients_.resize(numbers);
    x_coefficients_.resize(numbers);
    for (std::size_t k = 0; k < numbers; ++k) {
        coefficients_[k] = table_.factors[k / 2] * structure_[k];
        x_coefficients_[k] = wave_x_[k / 2] * coefficients_[k];
    }
}

void Waves::add(const LatticePoints& targets, const LatticeResults& results, WorkWatch& watch) const {
    const auto m = static_cast<std::int64_t>(targets[0].size());
    const auto function = FF_ISA_FUNCTION(ff_waves, isa_);
    parallel_for(threads_, (m + wave_points - 1) / wave_points, [&](std::int64_t b) {
        if (watch.stopped()) return;
        thread_local Block block;
        const auto first = b * wave_points;
        auto tile = phases_of(targets, first, block);
        for (auto& sums : block.sums) sums.resize(wave_points);
        tile.coefficients = coefficients_.data();
        tile.x_coefficients = x_coefficients_.data();
        tile.unit_y = table_.unit[1];
        tile.unit_z = table_.unit[2];
        tile.potential = block.sums[3].data();
        for (std::size_t k = 0; k < 3 && results.field != nullptr; ++k) tile.field[k] = block.sums[k].data();
        function(true, &tile);
        for (std::int64_t p = 0; p < std::min(wave_points, m - first); ++p) {
            if (results.potential != nullptr) results.potential[first + p] += tile.potential[p];
            for (std::int64_t k = 0; k < 3 && results.field != nullptr; ++k)
                results.field[3 * (first + p) + k] += tile.field[k][p];
        }
        watch.done(static_cast<double>(wave_points) * static_cast<double>(table_.factors.size()));
    });
}

} // namespace farfield
