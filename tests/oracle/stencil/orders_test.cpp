// Orders of convergence of programs beyond light, and a few facts about them.
#include "oracle/stencil/support.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace farfield {
namespace {

using namespace oracle;

// The largest error of a field against a formula of (X, Y).
double error_of(StencilRun& run, const std::string& field, double spacing,
                const std::function<double(double, double)>& exact) {
    const auto values = run.field(field);
    double out = 0;
    for (std::int64_t y = 0; y < values.shape[0]; ++y)
        for (std::int64_t x = 0; x < values.shape[1]; ++x)
            out = std::max(out, std::fabs(values(y, x) - exact(spacing * static_cast<double>(x),
                                                               spacing * static_cast<double>(y))));
    return out;
}

void expect_order(double order, const std::function<double(int)>& error) {
    double before = error(16);
    for (const int cells : {32, 64}) {
        const double now = error(cells);
        EXPECT_NEAR(std::log2(before / now), order, 0.15) << cells;
        before = now;
    }
}

// u = exp(−8π²t)·sin(2πx)·cos(2πy) solves the heat equation on a torus. With dt ~ dx² both errors fall
// like dx².
TEST(Orders, HeatIsOfSecondOrderInSpace) {
    expect_order(2, [](int cells) {
        auto run = finished(StencilProgram::from_text(R"(param n = 16
grid g[x: 1.0, y: 1.0] sampling n
time dt = 0.125*dx^2, end = 0.0078125
field u on g : double, double-buffered = sin(2*pi*X)*cos(2*pi*Y)
boundary: periodic
update conduct: u += dt/dx^2*(u[x-1] + u[x+1] + u[y-1] + u[y+1] - 4*u)
step: conduct
)",
                                                      {{"n", cells}}));
        const double decay = std::exp(-8 * pi * pi * run.time());
        return error_of(run, "u", 1.0 / cells, [&](double x, double y) {
            return decay * std::sin(2 * pi * x) * std::cos(2 * pi * y);
        });
    });
}

// p = cos(2πx)·cos(2πy)·cos(ωt), ω = 2π√2·c: a standing sound wave on a torus. The velocities start half a
// step before p, where they are odd in t.
TEST(Orders, SoundIsOfSecondOrder) {
    expect_order(2, [](int cells) {
        auto run = finished(StencilProgram::from_text(R"(param n = 16
let c = 2.0
let omega = 2*pi*sqrt(2.0)*c
grid g[x: 1.0, y: 1.0] sampling n
time dt = 0.5*dx/c, end = 0.5
let late = sin(0.5*omega*dt)
field p  on g at (x, y)     : double = cos(2*pi*X)*cos(2*pi*Y)
field vx on g at (x-1/2, y) : double = -late*sin(2*pi*X)*cos(2*pi*Y)/(sqrt(2.0)*c)
field vy on g at (x, y-1/2) : double = -late*cos(2*pi*X)*sin(2*pi*Y)/(sqrt(2.0)*c)
boundary: periodic
update push:
    vx -= dt/dx*(p - p[x-1])
    vy -= dt/dy*(p - p[y-1])
update compress:
    p -= dt*c^2*((vx[x+1] - vx)/dx + (vy[y+1] - vy)/dy)
step: push, compress
)",
                                                      {{"n", cells}}));
        const double phase = std::cos(2 * pi * std::sqrt(2.0) * 2.0 * run.time());
        return error_of(run, "p", 1.0 / cells, [&](double x, double y) {
            return phase * std::cos(2 * pi * x) * std::cos(2 * pi * y);
        });
    });
}

// At the border of two media the pressure of a transmitted sound pulse is 2·Z₂/(Z₁ + Z₂) of that which comes
// in, Z = ρc; one dimension, the coefficient of the acoustics example.
TEST(Orders, SoundIsPartlyReflectedWhereItsSpeedChanges) {
    auto run = finished(StencilProgram::from_text(R"(grid g[x: 4.0] sampling 400
let slow = 1.0, fast = 3.0
time dt = 0.5*dx/fast, end = 1.9
field p on g at (x) : double = exp(-((X - 1.0)/0.1)^2)
field v on g at (x-1/2) : double = exp(-((X - 1.0 + 0.5*dt*slow)/0.1)^2)/slow
subdomain right(x) at (x) = X > 2.0
coefficient speed on g:
    right: fast
    elsewhere: slow
boundary: zero
update push: v -= dt/dx*(p - p[x-1])
update compress: p -= dt/dx*speed^2*(v[x+1] - v)
step: push, compress
)"));
    const auto p = run.field("p");
    double left = 0, right = 0;
    for (int x = 0; x < 780; ++x) left = std::max(left, p.values[static_cast<std::size_t>(x)]);
    for (int x = 820; x < 1600; ++x) right = std::max(right, p.values[static_cast<std::size_t>(x)]);
    EXPECT_NEAR(right, 2 * 3.0 / (1.0 + 3.0), 0.02);
    EXPECT_NEAR(left, (3.0 - 1.0) / (3.0 + 1.0), 0.01);
}

// A glider moves by one cell in x and y every four generations: on a torus of 64 it is back after 256.
TEST(Orders, GliderComesHome) {
    StencilRun run(example("life"), options());
    const auto start = run.field("alive").values;
    run.advance(128);
    EXPECT_NE(run.field("alive").values, start);
    run.advance(128);
    EXPECT_EQ(run.field("alive").values, start);
    for (const double population : run.series("population").values) EXPECT_EQ(population, 5);
}

// Spots grow: the second chemical neither dies out nor takes over.
TEST(Orders, SpotsOfGrayAndScottGrow) {
    StencilRun run(example("gray_scott", {{"n", 96}}), options());
    const auto alive = [&] {
        double sum = 0;
        for (const double v : run.field("v").values) sum += v > 0.15 ? 1 : 0;
        return sum;
    };
    run.advance(500);
    const double early = alive();
    run.advance(2000);
    EXPECT_GT(alive(), 1.5 * early);
    EXPECT_LT(alive(), 0.9 * 96 * 96);
}

// Heat neither appears nor vanishes in the middle of the plate; it settles between stove and cold side.
TEST(Orders, PlateStaysBetweenItsTemperatures) {
    StencilRun run(example("heat", {{"resolution", 250}}), options());
    run.run();
    for (const double u : run.field("u").values) {
        EXPECT_GE(u, 20 - 1e-9);
        EXPECT_LE(u, 100 + 1e-9);
    }
    EXPECT_GT(run.series("mean_temperature").values.back(), 30);
}

} // namespace
} // namespace farfield
