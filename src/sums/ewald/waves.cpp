#include "sums/ewald/waves.h"

#include "backend/comm/transport.h"
#include "backend/threads/parallel.h"
#include "math/portable/functions.h"
#include "sums/direct/cpu/isa_function.h"
#include "sums/direct/cpu/sums_of_ranks.h"

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

Waves::Waves(const PeriodicFrame& frame, const Cutoffs& cutoffs, Isa isa, int threads, comm::Transport* ranks)
    : isa_(isa), threads_(threads), ranks_(ranks), table_(wave_table(frame, cutoffs, threads)),
      last_wave_(table_.count()) {
    if (ranks != nullptr) divide();
    wave_x_.resize(table_.factors.size());
    for (const auto& row : table_.rows)
        for (std::int32_t x = 0; x <= row.last_x; ++x)
            wave_x_[static_cast<std::size_t>(row.first + x)] = table_.unit[0] * x;
}

// Ranks have rows that follow each other, with about as many waves.
void Waves::divide() {
    std::vector<double> waves;
    waves.reserve(table_.rows.size());
    for (const auto& row : table_.rows) waves.push_back(row.last_x + 1);
    const auto firsts = first_of_ranks(waves, ranks_->size());
    const auto wave_of_row = [&](std::size_t row) {
        return row < table_.rows.size() ? table_.rows[row].first : table_.count();
    };
    for (std::size_t rank = 0; rank + 1 < firsts.size(); ++rank)
        counts_.push_back(wave_of_row(firsts[rank + 1]) - wave_of_row(firsts[rank]));
    const auto rank = static_cast<std::size_t>(ranks_->rank());
    first_wave_ = wave_of_row(firsts[rank]);
    last_wave_ = wave_of_row(firsts[rank + 1]);
    own_rows_.assign(table_.rows.begin() + static_cast<std::ptrdiff_t>(firsts[rank]),
                     table_.rows.begin() + static_cast<std::ptrdiff_t>(firsts[rank + 1]));
    for (auto& row : own_rows_) row.first -= first_wave_;
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
    const auto own_numbers = static_cast<std::size_t>(2 * own_count());
    const auto& own_rows = ranks_ != nullptr ? own_rows_ : table_.rows;
    std::vector<std::vector<double>> sums(static_cast<std::size_t>(parts));
    const auto function = FF_ISA_FUNCTION(ff_waves, isa_);
    parallel_for(threads_, parts, [&](std::int64_t part) {
        auto& structure = sums[static_cast<std::size_t>(part)];
        structure.assign(own_numbers, 0.0);
        thread_local Block block;
        for (auto b = blocks * part / parts; b < blocks * (part + 1) / parts && !watch.stopped(); ++b) {
            const auto first = b * wave_points;
            auto tile = phases_of(sources, first, block);
            std::fill(block.strengths.begin(), block.strengths.end(), 0.0);
            std::copy_n(strengths.begin() + first, std::min(wave_points, n - first), block.strengths.begin());
            tile.rows = own_rows.data();
            tile.row_count = std::ssize(own_rows);
            tile.strengths = block.strengths.data();
            tile.structure = structure.data();
            function(false, &tile);
            watch.done(static_cast<double>(wave_points) * static_cast<double>(own_count()));
        }
    });
    structure_ = std::move(sums.front());
    for (std::size_t part = 1; part < sums.size(); ++part)
        for (std::size_t k = 0; k < own_numbers; ++k) structure_[k] += sums[part][k];
    if (ranks_ != nullptr) share_structure();
    const auto numbers = structure_.size();
    coefficients_.resize(numbers);
    x_coefficients_.resize(numbers);
    for (std::size_t k = 0; k < numbers; ++k) {
        coefficients_[k] = table_.factors[k / 2] * structure_[k];
        x_coefficients_[k] = wave_x_[k / 2] * coefficients_[k];
    }
}

// All ranks get the structure factors of all waves.
void Waves::share_structure() {
    std::vector<std::int64_t> numbers;
    for (const auto count : counts_) numbers.push_back(2 * count);
    structure_ = comm::all_gathered(*ranks_, std::span<const double>(structure_), numbers);
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
