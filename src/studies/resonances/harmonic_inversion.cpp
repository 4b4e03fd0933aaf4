#include "studies/resonances/harmonic_inversion.h"

#include "studies/resonances/matrix_pencil.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <utility>

namespace farfield {
namespace {

using Complex = std::complex<double>;
constexpr double pi = std::numbers::pi;

constexpr double cycles_a_piece = 100; // bandwidth of a piece × duration: some 300 samples after thinning
constexpr double stop_band_decibels = 170; // what leaks through is weaker than the least term that is told
constexpr double most_of_series = 0.25;    // taken by the filter
constexpr std::size_t most_samples_whole = 1200; // of a series that is fitted whole

// Transition, in cycles a sample, of a filter of that many samples, and the other way round (Kaiser).
double transition_of(double length) { return (stop_band_decibels - 7.95) / (2.285 * 2 * pi * length); }

// A low-pass filter with Kaiser's window, symmetric, 1 at frequency 0; passes below `pass`, stops above
// `stop`, in cycles a sample.
std::vector<double> low_pass(double pass, double stop) {
    const double beta = 0.1102 * (stop_band_decibels - 8.7);
    const double middle = 0.5 * (pass + stop);
    const auto half = static_cast<long>(std::ceil(0.5 * transition_of(stop - pass)));
    std::vector<double> taps;
    double sum = 0;
    for (long k = -half; k <= half; ++k) {
        const auto n = static_cast<double>(k);
        const double x = n / static_cast<double>(half + 1);
        const double sinc = k == 0 ? 2 * middle : std::sin(2 * pi * middle * n) / (pi * n);
        taps.push_back(sinc * std::cyl_bessel_i(0.0, beta * std::sqrt(1 - x * x)));
        sum += taps.back();
    }
    for (double& tap : taps) tap /= sum;
    return taps;
}

// Part of the band, moved to frequency 0 and thinned out; frequencies in cycles a sample of the series.
struct Piece {
    double centre = 0;
    std::size_t stride = 1;
    std::vector<double> taps = {1.0};
    std::vector<Complex> samples;
};

Piece piece_of(std::span<const double> series, double from, double to) {
    Piece piece;
    const double transition =
        std::max(0.5 * (to - from), transition_of(most_of_series * static_cast<double>(series.size())));
    const double rate = (to - from) + 2 * transition; // what is left is folded onto the transitions at most
    const auto stride = static_cast<std::size_t>(std::max(1.0, std::floor(1 / rate)));
    if (stride == 1 && series.size() <= most_samples_whole) {
        piece.samples.assign(series.begin(), series.end());
        return piece;
    }
    piece.centre = 0.5 * (from + to);
    piece.stride = stride;
    piece.taps = low_pass(0.5 * (to - from), 0.5 * (to - from) + transition);
    const auto length = piece.taps.size();
    for (std::size_t n = 0; n + length <= series.size(); n += stride) {
        Complex sum = 0;
        const Complex turn = std::polar(1.0, -2 * pi * piece.centre);
        Complex phase = std::polar(1.0, -2 * pi * std::fmod(piece.centre * static_cast<double>(n), 1.0));
        for (std::size_t k = 0; k < length; ++k, phase *= turn) sum += piece.taps[k] * series[n + k] * phase;
        piece.samples.push_back(sum);
    }
    return piece;
}

// What the filter makes of z^n: z^n times the sum of taps[k]·z^k.
Complex response(const Piece& piece, Complex z) {
    Complex out = 0;
    for (auto tap = piece.taps.rbegin(); tap != piece.taps.rend(); ++tap) out = out * z + *tap;
    return out;
}

// Exponents of the terms in units of 1/sample: −decay + 2πi·frequency.
Complex exponent(const Piece& piece, const Exponential& term) {
    return std::log(term.ratio) / static_cast<double>(piece.stride) + Complex(0, 2 * pi * piece.centre);
}

// A true wave is found by pencils of two widths alike; fitted noise moves. Noise that both share adds what
// least squares say of one frequency (Cramér and Rao).
double uncertainty(const Piece& piece, const Exponential& term, const PencilFit& fit,
                   const PencilFit& other) {
    const auto s = exponent(piece, term);
    double apart = std::numeric_limits<double>::infinity();
    for (const auto& candidate : other.terms) {
        const double distance = std::abs(exponent(piece, candidate) - s);
        if (!std::isnan(distance)) apart = std::min(apart, distance);
    }
    const auto m = static_cast<double>(piece.samples.size());
    const double noise = std::sqrt(6.0) * fit.residual /
                         (std::abs(term.amplitude) * m * std::sqrt(m) * static_cast<double>(piece.stride));
    return (apart + noise) / (2 * pi);
}

struct Found {
    Oscillation wave;
    int piece = 0;
};

void find_in(const Piece& piece, double from, double to, int number, double noise, std::vector<Found>& out) {
    const auto count = piece.samples.size();
    const auto fit = matrix_pencil(piece.samples, count / 2, noise);
    const auto other = matrix_pencil(piece.samples, (2 * count) / 5, noise);
    for (const auto& term : fit.terms) {
        const auto s = exponent(piece, term);
        const double frequency = s.imag() / (2 * pi);
        if (!(frequency >= from && frequency <= to)) continue;
        Oscillation found;
        found.frequency = frequency;
        found.decay = -s.real();
        found.error = uncertainty(piece, term, fit, other) + 0x1p-50 * frequency;
        const auto moved = std::exp(s - Complex(0, 2 * pi * piece.centre));
        // a real wave is the sum of two such terms, of frequency and −frequency; a constant is one
        const auto amplitude =
            (frequency > found.error ? 2.0 : 1.0) * term.amplitude / response(piece, moved);
        found.amplitude = std::abs(amplitude);
        found.phase = std::arg(amplitude);
        if (std::isfinite(found.amplitude)) out.push_back({found, number});
    }
}

void check(std::span<const double> series, double interval, const HarmonicInversion& options) {
    if (series.size() < 16)
        throw InvalidArgument(fmt::format("a series of {} samples is too short to find waves in; record "
                                          "at least 16, and some periods of the slowest wave",
                                          series.size()));
    if (!(interval > 0)) throw InvalidArgument(fmt::format("an interval of {} must be above 0", interval));
    const auto bad = std::find_if(series.begin(), series.end(), [](double v) { return !std::isfinite(v); });
    if (bad != series.end())
        throw InvalidArgument(
            fmt::format("sample {} of the series is {}; leave such samples out", bad - series.begin(), *bad));
    const double highest = 0.5 / interval;
    if (!(options.from >= 0 && options.from < options.to && options.to <= highest))
        throw InvalidArgument(fmt::format("the band {} to {} is not within 0 to {}, half the sampling rate; "
                                          "frequencies are cycles a unit of time, not angular",
                                          options.from, options.to, highest));
}

// Sure and strong ones alone; a wave found in two pieces once; frequencies in cycles a unit of time.
std::vector<Oscillation> select(std::vector<Found> found, double count, double interval,
                                const HarmonicInversion& options) {
    std::erase_if(found, [&](const Found& one) { return !(one.wave.error * count <= options.least_sure); });
    double strongest = 0;
    for (const auto& one : found) strongest = std::max(strongest, one.wave.amplitude);
    std::erase_if(found,
                  [&](const Found& one) { return !(one.wave.amplitude >= options.least * strongest); });
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return a.wave.frequency < b.wave.frequency; });
    std::vector<Oscillation> out;
    int piece = -1;
    for (auto& [wave, number] : found) {
        const bool again =
            !out.empty() && number != piece &&
            wave.frequency - out.back().frequency < 1e-3 / count + wave.error + out.back().error;
        if (again && out.back().error < wave.error) continue;
        if (again) out.pop_back();
        out.push_back(wave);
        piece = number;
    }
    for (auto& wave : out) {
        wave.frequency /= interval;
        wave.decay /= interval;
        wave.error /= interval;
        wave.duration = interval * count;
    }
    return out;
}

} // namespace

double Oscillation::angular_frequency() const { return 2 * pi * frequency; }

double Oscillation::quality() const {
    constexpr double least_change = 1e-8;
    const bool known = std::fabs(decay) > 2 * pi * error && std::fabs(decay) * duration >= least_change;
    return known ? pi * frequency / decay : std::numeric_limits<double>::infinity();
}

std::vector<Oscillation> harmonic_inversion(std::span<const double> series, double interval,
                                            const HarmonicInversion& options) {
    check(series, interval, options);
    const auto count = static_cast<double>(series.size());
    const double from = options.from * interval, to = options.to * interval;
    const auto pieces = static_cast<int>(std::max(1.0, std::ceil((to - from) * count / cycles_a_piece)));
    std::vector<Found> found;
    for (int i = 0; i < pieces; ++i) {
        // pieces overlap, so that a wave on the edge of two is in one of them at least
        const double width = (to - from) / pieces, first = from + width * i;
        const auto piece = piece_of(series, first, first + width);
        find_in(piece, std::max(from, first - 0.05 * width), std::min(to, first + 1.05 * width), i,
                options.noise, found);
    }
    return select(std::move(found), count, interval, options);
}

} // namespace farfield
