// What the tests of physics share: running examples and texts, zeros of Bessel functions, resonances.
#pragma once

#include "studies/resonances/harmonic_inversion.h"

#include <farfield/stencil.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

namespace farfield::oracle {

constexpr double pi = std::numbers::pi;

inline StencilOptions options() {
    StencilOptions out;
    const char* target = std::getenv("FARFIELD_TEST_STENCIL_TARGET");
    out.target = target != nullptr ? target : "cpu";
    out.threads = 1; // ctest runs several tests at once; threads that wait for each other would slow them
    return out;
}

inline StencilProgram example(const std::string& name, const StencilParameters& parameters = {}) {
    return StencilProgram::from_file(std::filesystem::path(FF_EXAMPLES) / (name + ".ff"), parameters);
}

/// An example or a text, run to its end.
inline StencilRun finished(const StencilProgram& program) {
    StencilRun run(program, options());
    run.run();
    return run;
}

/// The part of a series from time `after` on.
inline StencilSeries from(const StencilSeries& series, double after) {
    StencilSeries out;
    for (std::size_t i = 0; i < series.times.size(); ++i) {
        if (series.times[i] < after) continue;
        out.times.push_back(series.times[i]);
        out.values.push_back(series.values[i]);
    }
    return out;
}

/// Angular frequencies in a band of angular frequencies, ascending. Terms weaker than `least` of the
/// strongest are left out.
inline std::vector<Oscillation> resonances(const StencilSeries& series, double low, double high,
                                           double least) {
    const double interval =
        (series.times.back() - series.times.front()) / static_cast<double>(series.times.size() - 1);
    return harmonic_inversion(series.values, interval,
                              {.from = low / (2 * pi), .to = high / (2 * pi), .least = least});
}

/// The root of f between a and b, where it has opposite signs.
inline double root(const std::function<double(double)>& f, double a, double b) {
    const bool rising = f(a) < 0;
    for (int i = 0; i < 200; ++i) {
        const double middle = 0.5 * (a + b);
        if ((f(middle) < 0) == rising)
            a = middle;
        else
            b = middle;
    }
    return 0.5 * (a + b);
}

/// All zeros between `low` and `high` of J_m (or of its derivative), m = 0 … 12, ascending.
inline std::vector<double> bessel_zeros(bool derivative, double low, double high) {
    std::vector<double> out;
    for (int m = 0; m <= 12; ++m) {
        const auto f = [&](double x) {
            if (!derivative) return std::cyl_bessel_j(static_cast<double>(m), x);
            return m == 0 ? -std::cyl_bessel_j(1.0, x)
                          : 0.5 * (std::cyl_bessel_j(m - 1.0, x) - std::cyl_bessel_j(m + 1.0, x));
        };
        constexpr double step = 0.01;
        for (double x = low; x < high; x += step)
            if ((f(x) < 0) != (f(x + step) < 0)) out.push_back(root(f, x, x + step));
    }
    std::sort(out.begin(), out.end());
    return out;
}

} // namespace farfield::oracle
