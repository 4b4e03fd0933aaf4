// Waves that travel, leave, and meet materials, against formulas.
#include "oracle/stencil/support.h"

#include <gtest/gtest.h>

#include <complex>

namespace farfield {
namespace {

using namespace oracle;
using Complex = std::complex<double>;

// A wave that starts as Yee's dispersion relation asks keeps its shape; after a thousand steps only roundings
// (1e-16 a step) tell it from the formula.
TEST(Waves, PlaneWaveFollowsYeesDispersion) {
    const int nx = 48, ny = 32;
    const double dt = 0.5, kx = 2 * pi * 3 / nx, ky = 2 * pi * 2 / ny;
    auto run = finished(example("periodic_wave"));
    const auto steps = static_cast<double>(run.step());
    ASSERT_EQ(steps, 1000);
    const double omega = 2 / dt * std::asin(dt * std::hypot(std::sin(kx / 2), std::sin(ky / 2)));
    const auto field = run.field("Hz");
    for (int y = 0; y < ny; ++y)
        for (int x = 0; x < nx; ++x) {
            const double phase = kx * (x + 0.5) + ky * (y + 0.5) - omega * (steps - 0.5) * dt;
            ASSERT_NEAR(field(y, x), std::cos(phase), 1e-11) << x << ", " << y;
        }
    const auto found = resonances(run.series("probe"), 0.9 * omega, 1.1 * omega, 1e-3);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NEAR(found[0].angular_frequency(), omega, 1e-9 * omega);
    // the continuum is another matter: this wave is 1 % too slow
    EXPECT_GT(std::fabs(omega / std::hypot(kx, ky) - 1), 1e-3);
}

// What comes back from the absorbing layer is the difference to a space so large that nothing comes back in
// time: below -60 dB of the pulse for probes beside the layer and in its corner.
TEST(Waves, AbsorbingLayerReflectsLessThanAThousandth) {
    for (const auto& [x, y] : {std::pair(36, 10), std::pair(0, -36), std::pair(35, 35)}) {
        const auto record = [&, x = x, y = y](int cells) {
            return finished(example("cpml", {{"cells", cells}, {"probe_x", x}, {"probe_y", y}}))
                .series("probe");
        };
        const auto small = record(100), large = record(320);
        double difference = 0, strongest = 0;
        for (std::size_t i = 0; i < small.values.size(); ++i) {
            difference = std::max(difference, std::fabs(small.values[i] - large.values[i]));
            strongest = std::max(strongest, std::fabs(large.values[i]));
        }
        EXPECT_LT(difference, 1e-3 * strongest) << x << ", " << y;
        EXPECT_GT(difference, 1e-9 * strongest) << "no difference at all; is the test blind?";
        RecordProperty("reflection_dB_" + std::to_string(x) + "_" + std::to_string(y),
                       std::to_string(20 * std::log10(difference / strongest)));
    }
}

Complex transform(const StencilSeries& series, double omega) {
    Complex out = 0;
    for (std::size_t i = 0; i < series.times.size(); ++i)
        out += series.values[i] * std::polar(1.0, omega * series.times[i]);
    return out;
}

// Transmitted over incident amplitude of a slab, normal incidence, beside the same length of empty space.
Complex slab(Complex index, double thickness, double omega) {
    const Complex i(0, 1), phase = std::exp(i * index * omega * thickness);
    const Complex t =
        4.0 * index * phase / (std::pow(1.0 + index, 2) - std::pow(1.0 - index, 2) * phase * phase);
    return t * std::exp(-i * omega * thickness);
}

// Second order: at 100 cells a unit, with up to 2.5 radians a unit inside, phases are off by (k·dx)²/24 of
// themselves and the resonance by (ω·dt)²/24: below 1e-3 of a transmission of order 1 even where it is
// steep. Twice the resolution has a quarter of the error.
void expect_transmission(const std::string& program, const std::string& absent,
                         const std::function<Complex(double)>& permittivity) {
    double errors[2] = {};
    for (int fine = 0; fine < 2; ++fine) {
        const double sampling = fine == 1 ? 60 : 30;
        const auto with =
            finished(example(program, {{"sampling", sampling}, {"duration", 300.0}})).series("transmitted");
        const auto without =
            finished(example(program, {{"sampling", sampling}, {"duration", 300.0}, {absent, 0.0}}))
                .series("transmitted");
        for (double omega = 0.4; omega < 2.4; omega += 0.05) {
            const auto measured = transform(with, omega) / transform(without, omega);
            const auto theory = slab(std::sqrt(permittivity(omega)), 1.0, omega);
            errors[fine] = std::max(errors[fine], std::abs(measured - theory));
        }
    }
    EXPECT_LT(errors[1], 2e-3);
    EXPECT_GT(errors[0] / errors[1], 3.0) << errors[0] << " and " << errors[1];
}

TEST(Waves, LorentzSlabTransmits) {
    expect_transmission("lorentz_slab", "strength", [](double omega) {
        return 1.0 + 1.5 / (1.0 - omega * omega - Complex(0, 0.1 * omega));
    });
}

TEST(Waves, DrudeSlabTransmits) {
    expect_transmission("drude_slab", "plasma", [](double omega) {
        return 1.0 - 1.5 * 1.5 / (omega * omega + Complex(0, 0.05 * omega));
    });
}

// What enters at the line goes to one side alone: to the other leaks what numerical dispersion makes of half
// a cell, (k·dx)²/24 at most, 0.3 % at 24 cells a wave length.
TEST(Waves, PlaneWaveEntersOneSide) {
    auto empty = finished(example("plane_wave", {{"radius", 0.0}, {"wavelength", 40.0}}));
    double left = 0, right = 0;
    for (const double value : empty.series("before").values) left = std::max(left, std::fabs(value));
    for (const double value : from(empty.series("behind"), 250).values)
        right = std::max(right, std::fabs(value));
    EXPECT_NEAR(right, 1.0, 0.02);
    EXPECT_LT(left, 0.003);
    // a rod throws a shadow, and light back
    auto rod = finished(example("plane_wave"));
    double scattered = 0;
    for (const double value : rod.series("before").values) scattered = std::max(scattered, std::fabs(value));
    EXPECT_GT(scattered, 0.1);
}

// Whispering gallery modes of a disk of index 2, TM: the roots of
//     n·J_m'(n·z)·H_m(z) = J_m(n·z)·H_m'(z),  z = k·R, H_m Hankel's function of the first kind,
// found by Newton's method with SciPy 1.10: real part and Q = −Re z/(2·Im z).
TEST(Waves, DielectricDiskKeepsLightAsLongAsTheorySays) {
    const struct {
        double z, quality;
    } modes[] = {{4.80697351, 122.0}, {5.39225083, 236.7}, {5.97042884, 468.3}};
    auto run = finished(example("dielectric_disk"));
    const auto found = resonances(from(run.series("probe"), 8), 4.6, 6.2, 1e-3);
    for (const auto& mode : modes) {
        const Oscillation* best = nullptr;
        for (const auto& one : found)
            if (one.quality() > 0.5 * mode.quality &&
                (best == nullptr ||
                 std::fabs(one.angular_frequency() - mode.z) < std::fabs(best->angular_frequency() - mode.z)))
                best = &one;
        ASSERT_NE(best, nullptr) << mode.z;
        // 24 cells a radius, 12 a wave length inside: dispersion slows by (k·n·dx)²/24 = 1 %
        EXPECT_NEAR(best->angular_frequency(), mode.z, 0.01 * mode.z);
        EXPECT_NEAR(best->quality(), mode.quality, 0.1 * mode.quality);
    }
}

} // namespace
} // namespace farfield
