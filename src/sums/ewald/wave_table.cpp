#include "sums/ewald/wave_table.h"

#include "backend/threads/parallel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace farfield {
namespace {

constexpr double two_pi = 2.0 * std::numbers::pi;

} // namespace

WaveTable wave_table(const PeriodicFrame& frame, const Cutoffs& cutoffs, int threads) {
    WaveTable out;
    for (std::size_t k = 0; k < 3; ++k) {
        out.unit[k] = two_pi / frame.length[k];
        out.last[k] = static_cast<std::int32_t>(cutoffs.wave / out.unit[k]);
    }
    const auto& unit = out.unit;
    const auto& most = out.last;
    const double limit = cutoffs.wave * cutoffs.wave;
    std::int64_t count = 0;
    for (std::int32_t z = -most[2]; z <= most[2]; ++z)
        for (std::int32_t y = -most[1]; y <= most[1]; ++y) {
            const double rest = limit - unit[1] * y * unit[1] * y - unit[2] * z * unit[2] * z;
            if (rest < 0.0) continue;
            const auto last = std::min(most[0], static_cast<std::int32_t>(std::sqrt(rest) / unit[0]));
            out.rows.push_back({.y = y, .z = z, .last_x = last, .first = count});
            count += last + 1;
        }
    out.factors.resize(static_cast<std::size_t>(count));
    parallel_for(threads, static_cast<std::int64_t>(out.rows.size()), [&](std::int64_t r) {
        const auto& row = out.rows[static_cast<std::size_t>(r)];
        for (std::int32_t x = 0; x <= row.last_x; ++x) {
            const double k = std::sqrt(unit[0] * x * unit[0] * x + unit[1] * row.y * unit[1] * row.y +
                                       unit[2] * row.z * unit[2] * row.z);
            out.factors[static_cast<std::size_t>(row.first + x)] =
                k > 0.0 ? (x > 0 ? 2.0 : 1.0) * cutoffs.splitting.wave_factor(k) / frame.volume() : 0.0;
        }
    });
    return out;
}

double wave_count(const PeriodicFrame& frame, double cutoff) {
    double ellipsoid = 2.0 / 3.0 * std::numbers::pi; // half of it
    for (const double length : frame.length) ellipsoid *= cutoff * length / two_pi + 0.5;
    return ellipsoid;
}

} // namespace farfield
