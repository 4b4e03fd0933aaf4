// Frequencies, decay rates, amplitudes and phases of the damped oscillations that a series consists of: far
// sharper than a Fourier transform of the same length. The band is cut into pieces; each is moved to
// frequency 0, low-pass filtered, thinned out, and fitted with matrix_pencil.h.
#pragma once

#include <limits>
#include <span>
#include <vector>

namespace farfield {

/// One term amplitude·exp(−decay·τ)·cos(2π·frequency·τ + phase), with τ = 0 at the first sample.
struct Oscillation {
    double frequency = 0; ///< cycles a unit of time
    double decay = 0;     ///< of the amplitude, 1/time; negative: grows
    double amplitude = 0; ///< ≥ 0, units of the series
    double phase = 0;     ///< radians, −π to π
    double error = 0;     ///< estimated, of frequency
    double duration = 0;  ///< of the series
    double angular_frequency() const;
    /// π·frequency/decay; infinite where the decay is below its error, which is 2π·error, or the
    /// amplitude changes by less than 1e-8 during the series, as it does by rounding in a simulation.
    double quality() const;
};

struct HarmonicInversion {
    double from = 0; ///< the band, cycles a unit of time
    double to = 0;
    double noise = 1e-12; ///< what counts as noise beside the strongest term of the band
    double least = 1e-7;  ///< terms of an amplitude below this part of the strongest one are dropped
    /// Terms whose frequency is less sure than this part of 1/duration are dropped: noise fitted as waves.
    double least_sure = 0.1;
};

/// @param series samples of a real quantity, `interval` apart in time. The longer the better: what is closer
/// than about 1/duration is hard to tell apart, the more so with noise.
/// @returns in ascending order of frequency.
/// @throws InvalidArgument for fewer than 16 samples, a value that is not finite, or a band that is empty or
/// beyond half the sampling rate.
std::vector<Oscillation> harmonic_inversion(std::span<const double> series, double interval,
                                            const HarmonicInversion& options);

} // namespace farfield
