// What a GPU does with waves, by its formulas and in its order, but on the host.
#include "sums/ewald/gpu_waves.h"
#include "sums/ewald/wave_formulas.h"
#include "sums/kernels/kernel.h"
#include "sums/method/method.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <map>
#include <numbers>
#include <random>
#include <tuple>
#include <vector>

namespace farfield {
namespace {

using Real = long double;
using Complex = std::complex<Real>;

PeriodicFrame frame_of(const std::array<double, 3>& period, double softening = 0.0) {
    SumProblem problem;
    problem.kernel = &kernel_info(Kernel::coulomb);
    problem.period = period;
    problem.softening = softening;
    return PeriodicFrame(problem);
}

Cutoffs cutoffs_of(double wave, double softening = 0.0) {
    Cutoffs out;
    out.splitting = {.alpha = 0.15 * wave, .softening = softening};
    out.wave = wave;
    return out;
}

Complex exact_phase(Real angle) { return {std::cos(angle), std::sin(angle)}; }

TEST(WaveFormulas, PhasesKeepTheirDigits) {
    for (const double angle : {0.0, 1e-3, 0.7, 3.1, 6.283}) {
        std::vector<Phase> phases(301);
        write_phases(angle, 300, [&](int n) -> Phase& { return phases[static_cast<std::size_t>(n)]; });
        for (int n = 0; n <= 300; ++n) {
            const auto exact = exact_phase(Real(angle) * n);
            const auto& got = phases[static_cast<std::size_t>(n)];
            // the angle's own rounding is not counted; e^(iθ) is off by half a unit, n times
            EXPECT_NEAR(got.re, static_cast<double>(exact.real()), 2e-16 * (n + 4)) << angle << ' ' << n;
            EXPECT_NEAR(got.im, static_cast<double>(exact.imag()), 2e-16 * (n + 4)) << angle << ' ' << n;
        }
    }
}

template <bool with_field>
WaveSum<with_field> sum_of(const std::vector<Phase>& c, const Phase& t, const Phase& yz) {
    RowSum<with_field> row;
    for (auto n = c.size(); n-- > 0;) row.add(c[n], t);
    WaveSum<with_field> sum;
    sum.add(row, t, yz, 1.5, -2.0, 0.25);
    return sum;
}

TEST(WaveFormulas, SumsRows) {
    std::mt19937 engine(5);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    for (const std::size_t count : {1U, 2U, 9U, 60U}) {
        std::vector<Phase> c(count);
        for (auto& one : c) one = {uniform(engine), uniform(engine)};
        const double theta = 3.0 * uniform(engine), across = 3.0 * uniform(engine);
        const Phase t{std::cos(theta), std::sin(theta)}, yz{std::cos(across), std::sin(across)};
        Real potential = 0, field[3] = {};
        for (std::size_t n = 0; n < count; ++n) {
            const auto wave = Complex(c[n].re, c[n].im) * exact_phase(Real(theta) * n + Real(across));
            potential += wave.real();
            field[0] += 1.5L * static_cast<Real>(n) * wave.imag();
            field[1] += -2.0L * wave.imag();
            field[2] += 0.25L * wave.imag();
        }
        const double most = 4e-16 * static_cast<double>(count * count + 1);
        const auto sum = sum_of<true>(c, t, yz);
        EXPECT_NEAR(sum.potential, static_cast<double>(potential), most);
        EXPECT_EQ(sum_of<false>(c, t, yz).potential, sum.potential);
        for (int k = 0; k < 3; ++k)
            EXPECT_NEAR(sum.field[k], static_cast<double>(field[k]), most * static_cast<double>(count));
    }
}

using Place = std::tuple<int, int, int>;

std::map<Place, double> factors_of(const WaveTable& table) {
    std::map<Place, double> out;
    for (const auto& row : table.rows)
        for (int x = 0; x <= row.last_x; ++x)
            out[{x, row.y, row.z}] = table.factors[static_cast<std::size_t>(row.first + x)];
    return out;
}

TEST(GpuWaves, TilesHaveEveryWaveOnce) {
    for (const auto& period :
         {std::array{1.0, 1.0, 1.0}, std::array{1.9, 0.7, 1.1}, std::array{0.05, 1.0, 1.0}})
        for (const double cutoff : {0.5, 7.0, 60.0, 200.0}) {
            const auto table = wave_table(frame_of(period), cutoffs_of(cutoff), 2);
            const GpuWaves waves(table);
            EXPECT_EQ(factors_of(waves.table), factors_of(table));
            EXPECT_TRUE(std::is_sorted(waves.table.rows.begin(), waves.table.rows.end(),
                                       [](const auto& a, const auto& b) { return a.last_x > b.last_x; }));
            std::vector<int> times(table.factors.size(), 0);
            for (const auto& tile : waves.tiles) {
                EXPECT_GT(tile.rows, 0);
                EXPECT_LE(tile.rows, rows_of_a_tile);
                for (int r = tile.first_row; r < tile.first_row + tile.rows; ++r) {
                    const auto& row = waves.table.rows[static_cast<std::size_t>(r)];
                    EXPECT_LE(tile.first_x, row.last_x);
                    for (int x = tile.first_x;
                         x <= std::min(row.last_x, tile.first_x + columns_of_a_tile - 1); ++x)
                        ++times[static_cast<std::size_t>(row.first + x)];
                }
            }
            EXPECT_TRUE(std::all_of(times.begin(), times.end(), [](int n) { return n == 1; }));
        }
}

TEST(GpuWaves, PartsHaveEveryRowAndStayWithinWhatIsPredicted) {
    for (const auto& period : {std::array{1.0, 1.0, 1.0}, std::array{1.9, 0.7, 1.1}})
        for (const double cutoff : {7.0, 60.0, 300.0})
            for (const std::int64_t n : {0, 1, 1000, 100000, 5000000}) {
                const auto frame = frame_of(period);
                const GpuWaves waves(wave_table(frame, cutoffs_of(cutoff), 2));
                const auto parts = gpu_wave_parts(waves, n, n / 2);
                EXPECT_EQ(parts.first_rows.front(), 0);
                EXPECT_EQ(parts.first_rows.back(), static_cast<int>(waves.table.rows.size()));
                EXPECT_TRUE(std::is_sorted(parts.first_rows.begin(), parts.first_rows.end()));
                EXPECT_GE(parts.of_sources, 1);
                EXPECT_EQ(parts.batch % targets_of_a_block, 0);
                EXPECT_GE(parts.batch, std::min<std::int64_t>(n, 1024));
                const auto count = static_cast<double>(waves.table.count());
                const double takes = 16.0 * parts.batch * waves.phases() +
                                     16.0 * count * (parts.of_sources + 1) + 8.0 * count +
                                     32.0 * parts.batch * static_cast<double>(parts.first_rows.size() - 1);
                const double predicted =
                    gpu_wave_bytes(frame, cutoff, static_cast<double>(n), static_cast<double>(n / 2));
                EXPECT_LT(takes, 1.3 * predicted) << cutoff << ' ' << n;
                EXPECT_GT(takes, 0.5 * predicted) << cutoff << ' ' << n;
            }
}

// Shared memory has no room for the phases of a point if waves are many along an axis.
TEST(GpuWaves, BoxesMayBeTooLongAndThin) {
    SumProblem problem;
    problem.kernel = &kernel_info(Kernel::coulomb);
    problem.sources = problem.targets = 1000;
    problem.tolerance = 1e-9;
    const auto why_not = [&](DeviceKind kind) {
        return method_info(Method::ewald).why_not(problem, {}, {.kind = kind, .gpus = {0}});
    };
    for (const double length : {1.0, 30.0, 1e6}) {
        problem.period = {1.0, length, 1.0};
        EXPECT_EQ(why_not(DeviceKind::cpu), "");
        EXPECT_EQ(why_not(DeviceKind::cuda).empty(), length < 1e6);
    }
    for (const auto* word : {"1,1e+06,1", "ewald", "cpu"})
        EXPECT_NE(why_not(DeviceKind::cuda).find(word), std::string::npos) << why_not(DeviceKind::cuda);
}

// Structure factors of parts, coefficients, and sums of parts of the rows, against waves one by one.
TEST(GpuWaves, SumsInPartsAreSumsOfWaves) {
    const auto frame = frame_of({1.3, 0.8, 1.1}, 0.05);
    const auto table = wave_table(frame, cutoffs_of(40.0, frame.softening), 2);
    const GpuWaves waves(table);
    std::mt19937 engine(8);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    constexpr std::size_t n = 40;
    std::vector<std::array<double, 3>> x(n);
    std::vector<double> q(n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < 3; ++k) x[i][k] = frame.length[k] * uniform(engine);
        q[i] = uniform(engine) - 0.5;
    }
    std::vector<std::vector<Phase>> phases(n, std::vector<Phase>(static_cast<std::size_t>(waves.phases())));
    const auto first = waves.first_phase();
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < 3; ++k)
            write_phases(waves.table.unit[k] * x[i][k], waves.table.last[k],
                         [&](int m) -> Phase& { return phases[i][static_cast<std::size_t>(first[k] + m)]; });
    const auto phase = [&](std::size_t i, std::size_t k, int m) {
        const auto found = phases[i][static_cast<std::size_t>(first[k] + std::abs(m))];
        return Phase{found.re, m < 0 ? -found.im : found.im};
    };
    std::vector<Phase> coefficients(table.factors.size());
    for (const auto& row : waves.table.rows)
        for (int m = 0; m <= row.last_x; ++m) {
            Phase sum;
            for (std::size_t i = 0; i < n; ++i) {
                const auto one = product(product(phase(i, 1, row.y), phase(i, 2, row.z)), phase(i, 0, m));
                sum = {sum.re + q[i] * one.re, sum.im - q[i] * one.im};
            }
            const auto at = static_cast<std::size_t>(row.first + m);
            coefficients[at] = {waves.table.factors[at] * sum.re, waves.table.factors[at] * sum.im};
        }
    const auto parts = gpu_wave_parts(waves, n, n);
    ASSERT_GT(parts.first_rows.size(), 3U); // several parts
    double off = 0.0, size = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        double got[4] = {};
        for (std::size_t part = 0; part + 1 < parts.first_rows.size(); ++part) {
            WaveSum<true> sum;
            for (int r = parts.first_rows[part]; r < parts.first_rows[part + 1]; ++r) {
                const auto& row = waves.table.rows[static_cast<std::size_t>(r)];
                RowSum<true> along;
                for (int m = row.last_x; m >= 0; --m)
                    along.add(coefficients[static_cast<std::size_t>(row.first + m)], phase(i, 0, 1));
                sum.add(along, phase(i, 0, 1), product(phase(i, 1, row.y), phase(i, 2, row.z)),
                        waves.table.unit[0], waves.table.unit[1] * row.y, waves.table.unit[2] * row.z);
            }
            for (int k = 0; k < 3; ++k) got[k] += sum.field[k];
            got[3] += sum.potential;
        }
        Real exact[4] = {};
        for (const auto& [place, factor] : factors_of(table)) {
            const auto [nx, ny, nz] = place;
            const Real k[3] = {2 * std::numbers::pi_v<Real> / frame.length[0] * nx,
                               2 * std::numbers::pi_v<Real> / frame.length[1] * ny,
                               2 * std::numbers::pi_v<Real> / frame.length[2] * nz};
            for (std::size_t j = 0; j < n; ++j) {
                Real angle = 0;
                for (std::size_t a = 0; a < 3; ++a) angle += k[a] * (Real(x[i][a]) - x[j][a]);
                const Real weight = Real(factor) * q[j];
                for (int a = 0; a < 3; ++a) exact[a] += weight * k[a] * std::sin(angle);
                exact[3] += weight * std::cos(angle);
            }
        }
        for (int k = 0; k < 4; ++k) {
            off += std::pow(static_cast<double>(got[k] - exact[k]), 2);
            size += std::pow(static_cast<double>(exact[k]), 2);
        }
    }
    EXPECT_LT(std::sqrt(off / size), 2e-14);
}

} // namespace
} // namespace farfield
