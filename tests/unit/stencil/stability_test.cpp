// Steps whose limits of stability are known, on both sides of them.
#include "stencil/compiler.h"
#include "stencil/front_end/front_end.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>

using namespace farfield;
using namespace farfield::stencil;

namespace {

// The messages of a program that has none but of its stability; the empty text where it is stable.
std::string instability(const std::string& text) {
    FrontEnd program("test.ff", text);
    EXPECT_TRUE(program.good()) << to_text(program.diagnostics());
    if (program.good()) compile(program.model(), {}, program.diagnostics());
    std::string out;
    for (const auto& one : program.diagnostics().sorted()) {
        if (one.kind->severity == lang::Severity::warning) continue;
        EXPECT_EQ(one.kind->name, "unstable") << to_text(program.diagnostics());
        out += one.message + " | " + one.remedy + "\n";
    }
    return out;
}

bool is_stable(const std::string& text) { return instability(text).empty(); }

// Limits are found to 5e-6 of a step's growth: a relative excess of 1e-10 in leapfrog grows by 3e-5.
constexpr double just_below = 1 - 1e-12;
constexpr double just_above = 1 + 1e-10;

std::string yee(int rank, double courant, std::string_view boundary = "boundary: periodic\n") {
    const auto c = fmt::format("param c = {}\n", courant);
    const std::string end(boundary);
    if (rank == 1)
        return c + "grid g[x: 40]\nfield E, H on g = x\n" + end +
               "update e on interior: E += c*(H - H[x-1])\nupdate h on interior: H += c*(E[x+1] - E)\nstep: "
               "e, h\n";
    if (rank == 2)
        return c + "grid g[x: 40, y: 30]\nfield Ex, Ey, H on g = x\n" + end +
               "update e on interior:\n    Ex += c*(H - H[y-1])\n    Ey += c*(H[x-1] - H)\n"
               "update h on interior: H += c*(Ex[y+1] - Ex + Ey - Ey[x+1])\nstep: e, h\n";
    return c + "grid g[x: 16, y: 18, z: 14]\nfield Ex, Ey, Ez, Hx, Hy, Hz on g = x\n" + end +
           "update e on interior:\n    Ex += c*(Hz - Hz[y-1] - Hy + Hy[z-1])\n"
           "    Ey += c*(Hx - Hx[z-1] - Hz + Hz[x-1])\n    Ez += c*(Hy - Hy[x-1] - Hx + Hx[y-1])\n"
           "update h on interior:\n    Hx += c*(Ey[z+1] - Ey - Ez[y+1] + Ez)\n"
           "    Hy += c*(Ez[x+1] - Ez - Ex[z+1] + Ex)\n    Hz += c*(Ex[y+1] - Ex - Ey[x+1] + Ey)\nstep: e, "
           "h\n";
}

TEST(Stability, OfLightEndsAtOneOverTheRootOfTheDimension) {
    for (int rank = 1; rank <= 3; ++rank) {
        const double limit = 1 / std::sqrt(rank);
        for (const auto* boundary : {"boundary: periodic\n", ""}) {
            EXPECT_TRUE(is_stable(yee(rank, 0.5 * limit, boundary))) << rank;
            EXPECT_TRUE(is_stable(yee(rank, just_below * limit, boundary))) << rank;
            EXPECT_FALSE(is_stable(yee(rank, just_above * limit, boundary))) << rank;
        }
    }
}

TEST(Stability, MessagesNameTheWaveItsGrowthAndTheLargestStableValue) {
    // s = (c/limit)² = 1.28; growth 2s − 1 + 2√(s² − s)
    const auto text = instability(yee(2, 0.8));
    EXPECT_NE(text.find("2 cells along x and 2 cells along y"), std::string::npos) << text;
    EXPECT_NE(text.find("a factor of 2.757 "), std::string::npos) << text;
    EXPECT_NE(text.find("make c 0.7071 at most; it is 0.8"), std::string::npos) << text;
}

TEST(Stability, MessagesNameTheSmallestValueOfANegativeFactor) {
    const auto text = instability(yee(2, -0.8));
    EXPECT_NE(text.find("make c -0.7071 at least; it is -0.8"), std::string::npos) << text;
}

TEST(Stability, OfDiffusionEndsAtOneOverTwiceTheDimension) {
    const auto heat = [](double r) {
        return fmt::format("param dif = 1.0\ngrid g[x: 30, y: 30]\ntime dt = {}\n"
                           "field u on g : double, double-buffered = x\nboundary: mirror\n"
                           "update go: u += dt*dif*(u[x-1] + u[x+1] + u[y-1] + u[y+1] - 4*u)\nstep: go\n",
                           r);
    };
    EXPECT_TRUE(is_stable(heat(0.1)));
    EXPECT_TRUE(is_stable(heat(0.25)));
    EXPECT_NE(instability(heat(0.2502)).find("make dt 0.25 at most"), std::string::npos)
        << instability(heat(0.2502));
}

TEST(Stability, FollowsTheMaterial) {
    const auto sound = [](double fast, const char* region) {
        return fmt::format("grid g[x: 60, y: 50]\nfield p, vx, vy on g : double = 0\nboundary: zero\n"
                           "subdomain s(x, y) = {}\ncoefficient c on g:\n    s: {}\n    elsewhere: 0.5\n"
                           "source start at (3, 3): p += sin(t)\n"
                           "update push:\n    vx -= p - p[x-1]\n    vy -= p - p[y-1]\n"
                           "update press: p -= c^2*(vx[x+1] - vx + vy[y+1] - vy)\nstep: push, press, start\n",
                           region, fast);
    };
    EXPECT_TRUE(is_stable(sound(0.7, "(x - 40)^2 + (y - 25)^2 < 100")));
    EXPECT_FALSE(is_stable(sound(0.72, "(x - 40)^2 + (y - 25)^2 < 100")));
    EXPECT_TRUE(is_stable(sound(0.72, "x > 60"))) << "the fast material is nowhere";
    const auto text = instability(sound(0.72, "(x - 40)^2 + (y - 25)^2 < 100"));
    EXPECT_NE(text.find("by 0.982 at most"), std::string::npos) << text; // (1/√2)/0.72
}

// Frozen at one cell it would grow; a wave of two cells has no room there.
TEST(Stability, IsNotJudgedByASinglePeak) {
    const auto line = [](const char* profile) {
        return fmt::format("grid g[x: 64]\nfield E, H on g = x\nboundary: zero\narray c[x] on g = {}\n"
                           "update e: E += c*(H - H[x-1])\nupdate h: H += c*(E[x+1] - E)\nstep: e, h\n",
                           profile);
    };
    EXPECT_TRUE(is_stable(line("if x == 32 then 1.05 else 0.9")));
    EXPECT_FALSE(is_stable(line("if abs(x - 32) < 12 then 1.05 else 0.9")));
    EXPECT_FALSE(is_stable(line("0.5 + 0.55*exp(-((X - 32)/20)^2)")));
}

// E'' = −k² E and J' = ε E − w² P, P' = J: an oscillator in every cell, coupled to light.
TEST(Stability, OfPolarisedMatterIsThatOfLight) {
    const auto lorentz = [](double c, double damping) {
        return fmt::format(
            "param c = {}, w2 = 0.04, strength = 0.05, damping = {}\ngrid g[x: 200]\n"
            "field E, H, P, J, absorbed on g = x\nboundary: periodic\nsubdomain slab(x) = 60 < x < 140\n"
            "update matter on slab:\n    J = ((1 - damping)*J - w2*P + strength*E)/(1 + damping)\n"
            "update matter2 on slab: P += J\nupdate e: E += c*(H - H[x-1])\n"
            "update back on slab: E -= J\nupdate h: H += c*(E[x+1] - E)\n"
            "update count on slab: absorbed += E*J\nstep: matter, matter2, e, back, h, count\n",
            c, damping);
    };
    EXPECT_TRUE(is_stable(lorentz(0.9, 0.0)));
    EXPECT_TRUE(is_stable(lorentz(0.9, 0.02)));
    EXPECT_FALSE(is_stable(lorentz(1.001, 0.02)));
}

TEST(Stability, SignsThatNoStepCuresAreTold) {
    const auto program = [](const char* equation) {
        return fmt::format("param c = 0.3\ngrid g[x: 50]\nfield u on g : double, double-buffered = x\n"
                           "boundary: periodic\nupdate go: u += {}\nstep: go\n",
                           equation);
    };
    EXPECT_TRUE(is_stable(program("c*(u[x-1] - u)")));
    for (const auto* equation : {"c*(u[x+1] - u[x-1])", "c*(2*u - u[x-1] - u[x+1])", "c*(u - u[x-1])"})
        EXPECT_NE(instability(program(equation)).find("no shorter step helps"), std::string::npos)
            << equation;
}

// Growth of long waves is physics, and what is not linear is not judged.
// Central differences without a viscosity: all waves grow, those of 4 cells twice as fast as those of 8.
TEST(Stability, OfSlowGrowthIsToldFromGain) {
    const auto advection = [](double c) {
        return fmt::format(
            "param c = {}\ngrid g[x: 64, y: 64]\nfield u double-buffered on g = x\nboundary: periodic\n"
            "update a: u = u - 0.5*c*(u[x+1] - u[x-1] + u[y+1] - u[y-1])\nstep: a\n",
            c);
    };
    EXPECT_NE(instability(advection(0.01)).find("by a factor of 1 + 0.0002 in each step"), std::string::npos);
    // (1 + (c·2)²)^½ − 1 = 2e-6 at c = 0.001, and 8e-6 at 0.002
    EXPECT_NE(instability(advection(0.002)).find("by a factor of 1 + 8e-06 in each step"), std::string::npos)
        << instability(advection(0.002));
    EXPECT_TRUE(is_stable(advection(0.001))) << "a factor of e after 500,000 steps";
    EXPECT_TRUE(is_stable("grid g[x: 64]\nfield u on g = x\nupdate a: u += 0.001*u\nstep: a\n")); // a gain
}

// Neither energy nor the growth of any wave changes; nothing is said at any Courant number up to the limit.
TEST(Stability, OfNeutralSchemesIsNotDoubted) {
    const auto wave = [](double c, int rank) { // u of the step before is v
        const std::string neighbours = rank == 1 ? "u[x-1] + u[x+1]" : "u[x-1] + u[x+1] + u[y-1] + u[y+1]";
        return fmt::format("param c = {}\ngrid g[x: 40{}]\nfield u : double, double-buffered = x\n"
                           "field v on g\nboundary: periodic\nupdate go:\n"
                           "    u = 2*u - v + c^2*({} - {}*u)\n    v = u\nstep: go\n",
                           c, rank == 1 ? "" : ", y: 30", neighbours, 2 * rank);
    };
    for (const double c : {0.001, 0.01, 0.1, 0.3, 0.5, 0.9, 0.999, 1 - 1e-6, 1 - 1e-9, 1.0}) {
        for (int rank = 1; rank <= 3; ++rank)
            EXPECT_TRUE(is_stable(yee(rank, c / std::sqrt(rank)))) << rank << ' ' << c;
        for (int rank = 1; rank <= 2; ++rank)
            EXPECT_TRUE(is_stable(wave(c / std::sqrt(rank), rank))) << rank << ' ' << c;
        EXPECT_TRUE(is_stable(fmt::format(
            "param c = {}\ngrid g[x: 40]\nfield p, q on g = x\nboundary: periodic\n" // a clock in every cell
            "update a: p += c*(q[x+1] - 2*q + q[x-1])/2\nupdate b: q -= c*(p[x+1] - 2*p + p[x-1])/2\n"
            "step: a, b\n",
            c)))
            << c;
    }
}

TEST(Stability, LeavesAloneWhatItCannotJudge) {
    const auto program = [](const char* equation) {
        return fmt::format(
            "grid g[x: 50]\nfield u, v on g : double, double-buffered = x\nboundary: periodic\n"
            "update go:\n    u {}\n    v = v[x-1]\nstep: go\n",
            equation);
    };
    for (const auto* equation :
         {"+= 0.1*u", "+= 0.1*u*u[x-1]", "= min(u[x-1] + 3*u, 1)", "= if u > 2 then 0 else 3*u - 2*u[x-1]",
          "+= sin(t)*(u[x-1] - u)", "= 2*u[x-1] - u*v", "= exp(u - u[x+1])"})
        EXPECT_TRUE(is_stable(program(equation))) << equation;
    EXPECT_FALSE(is_stable(program("= if step < 0 then 3*u[x-1] - 3*u[x+1] else 3*u[x-1] - 3*u[x+1]")) &&
                 is_stable(program("= 3*u[x-1] - 3*u[x+1]")));
}

// Each half reads the other one, which stands still: u decays to what is there.
TEST(Stability, DoesNotJudgeHalvesThatAreUpdatedInPlace) {
    EXPECT_TRUE(is_stable("grid g[x: 60, y: 44]\nfield u on g = x\nboundary: zero\n"
                          "update lower on y < 22: u += 0.3*(u[y+22] - u[y-22, x+1] - u)\n"
                          "update upper on not y < 22: u += 0.3*(u[y+22] - u[y-22, x+1] - u)\n"
                          "step: lower, upper\n"));
}

TEST(Stability, CountsKernelsOnlyInTheStepsInWhichTheyRun) {
    const auto program = [](int every) {
        return fmt::format(
            "grid g[x: 50]\nfield u on g : double, double-buffered = x\nboundary: periodic\n"
            "update smooth: u += 0.25*(u[x-1] - 2*u + u[x+1])\n"
            "update sharpen: u -= 0.4*(u[x-1] - 2*u + u[x+1])\nstep: smooth, sharpen every {}\n",
            every);
    };
    // at k: (1 − s)(1 + 1.6 s) with s = sin²(k/2): 1.056 at s = 0.19; every other step one more (1 − s)
    EXPECT_TRUE(is_stable(program(2)));
    EXPECT_TRUE(is_stable(program(1000))) << "too long a period to follow";
}

TEST(Stability, CanBeAllowedToFail) {
    FrontEnd program("test.ff", yee(1, 1.5));
    CompileOptions options;
    options.allow_unstable = true;
    EXPECT_NE(compile(program.model(), options, program.diagnostics()), nullptr);
    EXPECT_FALSE(program.diagnostics().has_errors());
    EXPECT_EQ(compile(program.model(), {}, program.diagnostics()), nullptr);
}

} // namespace
