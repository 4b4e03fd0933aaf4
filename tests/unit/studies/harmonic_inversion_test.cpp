// Harmonic inversion against sums of damped waves whose terms are known.
#include "effort.h"
#include "studies/resonances/harmonic_inversion.h"
#include "studies/resonances/matrix_pencil.h"

#include <farfield/error.h>

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

namespace farfield {
namespace {

struct Wave {
    double frequency, decay, amplitude, phase;
};

std::vector<double> series_of(const std::vector<Wave>& waves, std::size_t count, double interval,
                              double noise = 0, unsigned seed = 1) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal(0, 1);
    std::vector<double> out(count);
    for (std::size_t n = 0; n < count; ++n) {
        const long double t = static_cast<long double>(n) * static_cast<long double>(interval);
        long double sum = 0;
        for (const auto& w : waves)
            sum += w.amplitude * std::exp(-w.decay * t) *
                   std::cos(2 * std::numbers::pi_v<long double> * w.frequency * t + w.phase);
        out[n] = static_cast<double>(sum) + noise * normal(random);
    }
    return out;
}

const Oscillation* nearest(const std::vector<Oscillation>& found, double frequency) {
    const Oscillation* best = nullptr;
    for (const auto& one : found)
        if (best == nullptr || std::fabs(one.frequency - frequency) < std::fabs(best->frequency - frequency))
            best = &one;
    return best;
}

void expect_wave(const std::vector<Oscillation>& found, const Wave& wave, double frequency, double relative) {
    const auto* one = nearest(found, wave.frequency);
    ASSERT_NE(one, nullptr);
    EXPECT_NEAR(one->frequency, wave.frequency, frequency);
    EXPECT_NEAR(one->decay, wave.decay, 2 * std::numbers::pi * frequency);
    EXPECT_NEAR(one->amplitude, wave.amplitude, relative * wave.amplitude);
    EXPECT_LT(std::fabs(std::remainder(one->phase - wave.phase, 2 * std::numbers::pi)), relative);
}

const std::vector<Wave> four = {
    {0.11, 1e-4, 1.0, 0.3}, {0.1132, 2e-3, 0.2, -2.0}, {0.37, 0.0, 1e-3, 1.0}, {0.5, 0.01, 5.0, 3.0}};

TEST(HarmonicInversion, FindsEveryTermOfAShortSeries) {
    const auto found = harmonic_inversion(series_of(four, 600, 0.5), 0.5, {.from = 0.05, .to = 0.6});
    ASSERT_EQ(found.size(), four.size());
    for (const auto& wave : four) expect_wave(found, wave, 1e-9, 1e-6);
    for (const auto& one : found) EXPECT_LT(one.error, 1e-8);
}

// 64 samples a period and more: the band is filtered and thinned out. The filter leaves 80 % of the series,
// and each term is an exact exponential still, so that nothing but roundings is lost.
TEST(HarmonicInversion, FindsEveryTermOfALongOversampledSeries) {
    const double interval = 0.02;
    const auto found =
        harmonic_inversion(series_of(four, 60000, interval), interval, {.from = 0.05, .to = 0.6});
    ASSERT_EQ(found.size(), four.size());
    for (const auto& wave : four) expect_wave(found, wave, 1e-8, 1e-5);
}

TEST(HarmonicInversion, CutsAWideBandIntoPieces) {
    std::vector<Wave> comb;
    for (int i = 0; i < 40; ++i) comb.push_back({0.013 + 0.011 * i, 1e-5 * i, 1 + 0.1 * i, 0.1 * i});
    const auto found =
        harmonic_inversion(series_of(comb, test::sized(20000U, 5000U), 0.5), 0.5, {.from = 0.0, .to = 0.5});
    ASSERT_EQ(found.size(), comb.size());
    for (const auto& wave : comb) expect_wave(found, wave, 1e-9, 1e-6);
    for (std::size_t i = 1; i < found.size(); ++i) EXPECT_LT(found[i - 1].frequency, found[i].frequency);
}

// Two waves 0.26 % apart, as the modes (4,1) and (1,2) of a metal disk, in a third of the time that a Fourier
// transform would need to show two peaks.
TEST(HarmonicInversion, SeparatesNeighbours) {
    const std::vector<Wave> pair = {{0.84631, 0, 1.0, 0.1}, {0.84852, 0, 0.7, 0.7}};
    const double duration = 0.33 / (0.84852 - 0.84631);
    const auto found =
        harmonic_inversion(series_of(pair, 3000, duration / 3000), duration / 3000, {.from = 0.6, .to = 1.1});
    ASSERT_EQ(found.size(), 2U);
    for (const auto& wave : pair) expect_wave(found, wave, 1e-7, 1e-3);
}

// The bound of Cramér and Rao for one wave in noise σ is a standard deviation of √24·σ/(2π·A·T·√N), T the
// duration; the pencil comes within a factor of two of it, filter and thinning included. 4 standard
// deviations of twice the bound fail once in 10^4 series.
TEST(HarmonicInversion, IsNearlyAsSureAsNoiseAllows) {
    const double sigma = 0.1, interval = 0.1;
    const std::size_t count = 8000;
    const double duration = interval * static_cast<double>(count);
    const double bound =
        std::sqrt(24.0) * sigma / (2 * std::numbers::pi * duration * std::sqrt(static_cast<double>(count)));
    const Wave wave{0.2, 0, 1.0, 0.4};
    double squares = 0, reported = 0;
    const unsigned tries = test::sized(20U, 5U);
    for (unsigned seed = 1; seed <= tries; ++seed) {
        const auto found = harmonic_inversion(series_of({wave}, count, interval, sigma, seed), interval,
                                              {.from = 0.1, .to = 0.3, .least = 0.1});
        ASSERT_EQ(found.size(), 1U) << "seed " << seed;
        const double off = found[0].frequency - wave.frequency;
        EXPECT_LT(std::fabs(off), 8 * bound) << "seed " << seed;
        squares += off * off;
        reported += found[0].error;
        EXPECT_TRUE(std::isinf(found[0].quality()) || std::fabs(found[0].quality()) > 500) << "seed " << seed;
    }
    const double spread = std::sqrt(squares / tries);
    EXPECT_GT(reported / tries, 0.3 * spread);
    EXPECT_LT(reported / tries, 10 * spread);
}

TEST(HarmonicInversion, TellsQuality) {
    const double q = 250, f = 0.1;
    const auto found = harmonic_inversion(series_of({{f, std::numbers::pi * f / q, 1, 0}}, 2000, 0.5), 0.5,
                                          {.from = 0.05, .to = 0.2});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NEAR(found[0].quality(), q, 1e-6 * q);
    EXPECT_NEAR(found[0].angular_frequency(), 2 * std::numbers::pi * f, 1e-10);
}

// The modes of a simulation without losses change by rounding alone.
TEST(HarmonicInversion, ALosslessModeHasNoQuality) {
    const double f = 0.1;
    for (const double change : {2e-9, -2e-9}) { // of the amplitude, from begin to end
        const auto found = harmonic_inversion(series_of({{f, change / 1000, 1, 0}}, 2000, 0.5), 0.5,
                                              {.from = 0.05, .to = 0.2});
        ASSERT_EQ(found.size(), 1U);
        EXPECT_TRUE(std::isinf(found[0].quality())) << found[0].decay;
    }
    const auto known =
        harmonic_inversion(series_of({{f, 1e-6 / 1000, 1, 0}}, 2000, 0.5), 0.5, {.from = 0.05, .to = 0.2});
    ASSERT_EQ(known.size(), 1U);
    EXPECT_NEAR(known[0].quality() / (std::numbers::pi * f * 1e9), 1, 1e-3);
}

TEST(HarmonicInversion, NothingIsFoundInNothing) {
    EXPECT_TRUE(harmonic_inversion(std::vector<double>(500, 0.0), 1, {.from = 0.1, .to = 0.2}).empty());
}

TEST(HarmonicInversion, RefusesWhatItCannotUse) {
    const std::vector<double> good(100, 1.0);
    auto bad = good;
    bad[3] = std::nan("");
    EXPECT_THROW(harmonic_inversion(bad, 1, {.from = 0.1, .to = 0.2}), InvalidArgument);
    EXPECT_THROW(harmonic_inversion(good, 1, {.from = 0.2, .to = 0.1}), InvalidArgument);
    EXPECT_THROW(harmonic_inversion(good, 1, {.from = 0.1, .to = 0.6}), InvalidArgument);
    EXPECT_THROW(harmonic_inversion(good, 0, {.from = 0.1, .to = 0.2}), InvalidArgument);
    EXPECT_THROW(harmonic_inversion(std::vector<double>(15), 1, {.from = 0.1, .to = 0.2}), InvalidArgument);
}

// A growing and a falling complex exponential, one of them beyond what a band would keep.
TEST(MatrixPencil, FitsComplexExponentials) {
    const std::complex<double> up = std::polar(1.05, 2.0), down = std::polar(0.9, -1.0);
    std::vector<std::complex<double>> samples;
    for (int m = 0; m < 60; ++m) samples.push_back(std::pow(up, m) + 3.0 * std::pow(down, m));
    const auto fit = matrix_pencil(samples, 25, 1e-12);
    ASSERT_EQ(fit.terms.size(), 2U);
    for (const auto& term : fit.terms) {
        const bool first = std::abs(term.ratio - up) < 0.1;
        EXPECT_LT(std::abs(term.ratio - (first ? up : down)), 1e-10);
        EXPECT_LT(std::abs(term.amplitude - (first ? 1.0 : 3.0)), 1e-8);
    }
    EXPECT_LT(fit.residual, 1e-10);
    EXPECT_THROW(matrix_pencil(samples, 59, 1e-12), InvalidArgument);
}

} // namespace
} // namespace farfield
