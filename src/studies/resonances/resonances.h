// Resonances of a recorded series: what `farfield stencil resonances` does.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace farfield {

struct ResonancesTask {
    std::filesystem::path input; ///< .csv: a column `t` or `time` (else the first one) and series;
                                 ///< nan: no sample
    std::string column;          ///< empty: the only one besides the time
    double from = 0;             ///< the band, cycles a unit of time
    double to = 0;
    double after = 0;    ///< samples at earlier times are left out: the source still rings
    double least = 1e-6; ///< amplitudes below this part of the strongest one are dropped
};

struct Resonance {
    double frequency = 0; ///< cycles a unit of time
    double angular_frequency = 0;
    double decay = 0;     ///< of the amplitude, 1/time
    double quality = 0;   ///< infinite where the decay is too small to tell
    double amplitude = 0; ///< at the first sample used
    double phase = 0;     ///< radians, there
    double error = 0;     ///< estimated, of the frequency
};

struct ResonanceReport {
    std::string column;
    double first = 0, last = 0; ///< times of the samples used
    std::size_t samples = 0;
    std::vector<Resonance> resonances;
};

/// @throws InvalidArgument for a column that is not there, times that are not evenly spaced, a band beyond
/// half the sampling rate; IoError.
ResonanceReport find_resonances(const ResonancesTask& task);

/// @param times,values of one length. @throws as above.
ResonanceReport find_resonances(const std::vector<double>& times, const std::vector<double>& values,
                                const ResonancesTask& task);

std::string to_text(const ResonanceReport& report);
/// {"column", "first_time", "last_time", "samples", "resonances": [{"frequency", "angular_frequency",
/// "decay", "Q" (null: infinite), "amplitude", "phase", "frequency_error"}]}
std::string to_json(const ResonanceReport& report);

} // namespace farfield
