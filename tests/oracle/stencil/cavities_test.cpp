// Resonances of closed boxes against theory, and that nothing of the energy in them gets lost.
#include "oracle/stencil/support.h"

#include <gtest/gtest.h>

#include <array>

namespace farfield {
namespace {

using namespace oracle;

// The relative errors of all modes of a disk between two values of k·R. Every mode that the source and the
// probe see must be there, and no other: sources and probes are placed so that of each pair cos(mφ), sin(mφ)
// one is left.
std::vector<double> errors(const std::string& program, bool derivative, double radius, double low,
                           double high, double duration) {
    const auto run = example(program, {{"radius", radius}, {"duration", duration}});
    const auto series = from(finished(run).series("probe"), 7);
    const auto theory = bessel_zeros(derivative, low, high);
    // modes shift by up to 3 % at 20 cells a radius
    const auto found = resonances(series, 0.97 * low, high, 1e-4);
    std::vector<double> out;
    EXPECT_EQ(found.size(), theory.size()) << program << ", radius " << radius;
    for (std::size_t i = 0; i < std::min(found.size(), theory.size()); ++i) {
        out.push_back(found[i].angular_frequency() / theory[i] - 1);
        EXPECT_LT(std::fabs(found[i].decay), 1e-4) << "mode " << theory[i]; // nothing leaves the box
    }
    return out;
}

double largest(const std::vector<double>& values) {
    double out = 0;
    for (const double value : values) out = std::max(out, std::fabs(value));
    return out;
}

constexpr std::array radii{20.0, 28.3, 40.0, 53.71, 80.0}; // whole numbers of cells are nothing special

// A wall in steps of a cell lies up to a cell beside the circle, and a wall that moves by δ changes k by
// about δ/R: errors are at most C/R with C of half a cell, whatever the radius. A metal wall is wrong by very
// different amounts for different modes, as E along it and H at it pull opposite ways.
TEST(Cavities, MetalDiskHasZerosOfTheDerivative) {
    for (const double radius : radii) {
        const auto found = errors("metal_disk", true, radius, 1.5, 6.0, 60);
        EXPECT_LT(largest(found), 0.65 / radius) << "radius " << radius;
        EXPECT_GT(largest(found), 0.3 / radius) << "too good to be a staircase; is the test blind?";
    }
}

// Where the field itself is zero at the wall, the disk is larger by the same part of a cell for all modes:
// that between the last cell inside and the first outside, on average over the circle, which depends on
// whether the centre is a corner (H) or a cell (TM).
void expect_larger_disk(const std::string& program, double least, double most) {
    for (const double radius : radii)
        for (const double error : errors(program, false, radius, 2.0, 7.2, 60)) {
            EXPECT_GT(-error * radius, least) << program << ", radius " << radius;
            EXPECT_LT(-error * radius, most) << program << ", radius " << radius;
        }
}

TEST(Cavities, MagneticDiskHasZerosOfTheBesselFunction) { expect_larger_disk("magnetic_disk", 0.3, 0.5); }

TEST(Cavities, TransverseMagneticDiskHasZerosOfTheBesselFunction) {
    expect_larger_disk("tm_disk", 0.25, 0.55);
}

// The first six modes at 160 cells a radius.
TEST(Cavities, SixModesAt160CellsARadius) {
    EXPECT_LT(largest(errors("metal_disk", true, 160, 1.5, 6.0, 60)), 0.005);
    EXPECT_LT(largest(errors("magnetic_disk", false, 160, 2.0, 7.2, 60)), 0.005);
    EXPECT_LT(largest(errors("metal_disk_cut", true, 160, 1.5, 6.0, 100)), 0.0005);
}

// Cut cells: second order but for the cells whose area is enlarged, which are few; far below the staircase.
TEST(Cavities, CutCellsAreOfHigherOrder) {
    double coarse = 0;
    for (const double radius : radii) {
        const double error = largest(errors("metal_disk_cut", true, radius, 1.5, 6.0, 100));
        if (radius == 20.0) coarse = error;
        EXPECT_LT(error, 2 * coarse * std::pow(20 / radius, 1.5)) << "radius " << radius;
        EXPECT_LT(error, 0.05 / radius) << "radius " << radius;
    }
}

// Largest relative change of a record after the source has ended.
double change(const StencilSeries& series) {
    double low = series.values.front(), high = low;
    for (const double value : series.values) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
    EXPECT_GT(low, 0);
    return (high - low) / high;
}

// 1e5 steps. Each rounds fields of some thousand cells in the last digit, at random: 1e-16·√1e5 = 3e-14.
TEST(Cavities, EnergyOfADiskIsConstant) {
    const double radius = 12, duration = 1e5 * 0.5 / radius;
    auto run = finished(example("metal_disk", {{"radius", radius}, {"duration", duration}}));
    EXPECT_EQ(run.step(), 100000);
    EXPECT_LT(change(from(run.series("energy"), 7)), 1e-12);
}

TEST(Cavities, EnergyOfABoxIsConstant) {
    auto run = finished(example("yee_cavity", {{"nx", 10}, {"ny", 8}, {"nz", 9}, {"duration", 5e4}}));
    EXPECT_EQ(run.step(), 100000);
    EXPECT_LT(change(from(run.series("energy"), 61)), 1e-12);
}

// The modes of a box on Yee's grid are known exactly: sines and cosines that fit, with the discrete
// dispersion relation. Every resonance found is one of them, to the precision of the inversion.
TEST(Cavities, ModesOfABoxFollowTheDiscreteDispersion) {
    const int nx = 24, ny = 16, nz = 20;
    const double dt = 0.5;
    auto run = finished(example("yee_cavity", {{"nx", nx}, {"ny", ny}, {"nz", nz}, {"duration", 4000.0}}));
    const auto found = resonances(from(run.series("probe"), 61), 0.15, 0.6, 1e-5);
    std::vector<double> theory;
    for (int l = 0; l < nx; ++l)
        for (int m = 0; m < ny; ++m)
            for (int n = 0; n < nz; ++n) {
                const auto s = [](int i, int cells) { return std::pow(std::sin(0.5 * pi * i / cells), 2); };
                const double q = std::sqrt(s(l, nx) + s(m, ny) + s(n, nz));
                // Ez is zero without a wave along x and one along y
                if (l > 0 && m > 0 && dt * q < 1) theory.push_back(2 / dt * std::asin(dt * q));
            }
    EXPECT_GE(found.size(), 8U);
    for (const auto& one : found) {
        double nearest = 1;
        for (const double mode : theory)
            nearest = std::min(nearest, std::fabs(one.angular_frequency() - mode));
        EXPECT_LT(nearest, 1e-11) << one.angular_frequency();
    }
    EXPECT_NEAR(found.front().angular_frequency(), *std::min_element(theory.begin(), theory.end()), 1e-11);
}

} // namespace
} // namespace farfield
