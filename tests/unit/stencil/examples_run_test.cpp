// The programs of examples/stencil, compiled and interpreted, against loops written from their text with none
// of the compiler's code. Where the language fixes every rounding the loops do the same operations, with
// std::fma where a product meets a sum, and the fields are equal bit for bit; sums over many cells are
// compared within their rounding errors, because the loops add in another order.
#include "compiled.h"

#include "stencil/passes/passes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>

namespace {

using farfield::testing::Compiled;
using farfield::testing::series_of;
using farfield::testing::text_of_file;
using farfield::testing::values_of;
using Values = std::vector<double>;

farfield::stencil::ParameterValue set(const char* name, std::int64_t value) { return {name, value}; }

std::string example(const std::string& name) {
    return text_of_file(std::string(FARFIELD_EXAMPLES) + "/stencil/" + name + ".ff");
}

// Runs the program as it is lowered and with all passes.
void run_both(const std::string& name, const std::vector<farfield::stencil::ParameterValue>& parameters,
              int steps, const std::function<void(farfield::stencil::Executor&)>& judge) {
    for (const bool optimise : {false, true}) {
        SCOPED_TRACE(optimise ? "optimised" : "as lowered");
        farfield::stencil::CompileOptions options;
        options.optimise = optimise;
        const Compiled program(example(name), options, parameters);
        ASSERT_NE(program.program(), nullptr);
        const auto executor = program.start();
        executor->advance(steps);
        judge(*executor);
    }
}

// i modulo n, not negative
std::size_t around(std::size_t i, std::size_t n, int by) {
    return (i + n + static_cast<std::size_t>(by + static_cast<int>(n))) % n;
}

TEST(StencilExamples, LifeMovesAGlider) {
    const std::size_t n = 16;
    std::vector<bool> alive(n * n);
    for (const auto& [x, y] :
         {std::pair(2, 1), std::pair(3, 2), std::pair(1, 3), std::pair(2, 3), std::pair(3, 3)})
        alive[static_cast<std::size_t>(x + y * 16)] = true;
    Values population;
    for (int step = 0; step < 70; ++step) {
        auto next = alive;
        for (std::size_t y = 0; y < n; ++y)
            for (std::size_t x = 0; x < n; ++x) {
                int count = 0;
                for (const int j : {-1, 0, 1})
                    for (const int i : {-1, 0, 1})
                        if ((i != 0 || j != 0) && alive[around(x, n, i) + n * around(y, n, j)]) ++count;
                next[x + n * y] = count == 3 || (count == 2 && alive[x + n * y]);
            }
        alive = next;
        population.push_back(static_cast<double>(std::count(alive.begin(), alive.end(), true)));
    }
    run_both("life", {set("n", 16)}, 70, [&](auto& executor) {
        EXPECT_EQ(values_of(executor, "alive"), Values(alive.begin(), alive.end()));
        EXPECT_EQ(series_of(executor, "population"), population);
    });
}

TEST(StencilExamples, RedBlackSolvesPoissonsEquation) {
    const std::size_t n = 33;
    const auto distance = [](std::size_t x, std::size_t y, int a, int b) {
        const int i = static_cast<int>(x) - a, j = static_cast<int>(y) - b;
        return i * i + j * j;
    };
    const auto charge = [&](std::size_t x, std::size_t y) { // the rods have a radius of 33/16 cells
        return distance(x, y, 11, 16) <= 4 ? 1.0 : distance(x, y, 22, 16) <= 4 ? -1.0 : 0.0;
    };
    Values u(n * n, 0.0), residuals;
    const auto residual = [&](std::size_t x, std::size_t y) { // … − 4·u in one rounding
        const auto i = x + n * y;
        return std::fma(-4.0, u[i], u[i - 1] + u[i + 1] + u[i - n] + u[i + n] + charge(x, y));
    };
    for (int step = 0; step < 150; ++step) {
        for (const std::size_t colour : {0, 1})
            for (std::size_t y = 1; y + 1 < n; ++y)
                for (std::size_t x = 1; x + 1 < n; ++x)
                    if ((x + y) % 2 == colour)
                        u[x + n * y] = std::fma(1.8125 / 4, residual(x, y), u[x + n * y]);
        double most = 0;
        for (std::size_t y = 1; y + 1 < n; ++y)
            for (std::size_t x = 1; x + 1 < n; ++x) most = std::max(most, std::fabs(residual(x, y)));
        residuals.push_back(most);
    }
    // Over-relaxation at its best divides the residual by 1/(ω − 1) = 1.23 a step, Gauss-Seidel by 1.01.
    EXPECT_LT(residuals.back(), 1e-9);
    auto parameters = std::vector{set("n", 33)};
    parameters.push_back({"relaxation", 1.8125});
    run_both("red_black", parameters, 150, [&](auto& executor) {
        EXPECT_EQ(values_of(executor, "u"), u);
        EXPECT_EQ(series_of(executor, "residual"), residuals);
    });
}

TEST(StencilExamples, GrayScottReactsAndDiffuses) {
    const std::size_t n = 48;
    const double feed = 0.037, kill = 0.06, Du = 0.16, Dv = 0.08;
    Values u(n * n, 1.0), v(n * n, 0.0);
    for (std::size_t y = 15; y < 34; ++y)
        for (std::size_t x = 15; x < 34; ++x) u[x + n * y] = 0.5, v[x + n * y] = 0.25;
    for (int step = 0; step < 100; ++step) {
        const auto a = u, b = v;
        for (std::size_t y = 0; y < n; ++y)
            for (std::size_t x = 0; x < n; ++x) {
                const auto at = [&](const Values& w, int i, int j) {
                    return w[around(x, n, i) + n * around(y, n, j)];
                };
                const auto laplace = [&](const Values& w) { // … − 4·w in one rounding
                    return std::fma(-4.0, at(w, 0, 0),
                                    at(w, -1, 0) + at(w, 1, 0) + at(w, 0, -1) + at(w, 0, 1));
                };
                const double p = at(a, 0, 0), q = at(b, 0, 0);
                const double uvv = p * (q * q);
                u[x + n * y] = p + std::fma(feed, 1 - p, std::fma(Du, laplace(a), -uvv));
                v[x + n * y] = q + std::fma(-(feed + kill), q, std::fma(Dv, laplace(b), uvv));
            }
    }
    double mass = 0;
    for (std::size_t i = 0; i < u.size(); ++i) mass += u[i] + v[i];
    run_both("gray_scott", {set("n", 48)}, 100, [&](auto& executor) {
        EXPECT_EQ(values_of(executor, "u"), u);
        EXPECT_EQ(values_of(executor, "v"), v);
        const auto series = series_of(executor, "mass");
        ASSERT_EQ(series.size(), 1U);
        EXPECT_NEAR(series[0], mass, 1e-15 * 2304 * mass); // n² additions, each rounded to 1.1e-16 of the sum
    });
}

TEST(StencilExamples, HeatFlowsThroughTwoMaterials) {
    const std::size_t nx = 40, ny = 20;
    const double dx = 1.0 / 200, copper = 1.1e-4, steel = 4.2e-6;
    // The program's constants: powers are those of math/portable, exact to an ulp; a product may differ from
    // it.
    const double dt = 0.2 * (dx * dx) / copper;
    Values u(nx * ny, 20.0);
    Values mean, centre;
    for (int step = 0; step < 40; ++step) {
        for (std::size_t y = 0; y < ny; ++y) u[nx * y] = 100.0; // the first cell alone has X < dx
        const auto old = u;
        for (std::size_t y = 0; y < ny; ++y)
            for (std::size_t x = 1; x + 1 < nx; ++x) {
                const double X = static_cast<double>(x) * dx, Y = static_cast<double>(y) * dx;
                if (X > 0.2 - 2 * dx) continue;
                const double below = old[x + nx * (y == 0 ? 0 : y - 1)],
                             above = old[x + nx * (y + 1 == ny ? y : y + 1)];
                const double k =
                    (X - 0.1) * (X - 0.1) + (Y - 0.05) * (Y - 0.05) < 0.03 * 0.03 ? steel : copper;
                const double c = old[x + nx * y];
                const double laplacian =
                    (old[x - 1 + nx * y] + old[x + 1 + nx * y] + below + above - 4 * c) / (dx * dx);
                u[x + nx * y] = c + dt * k * laplacian;
            }
        if ((step + 1) % 10 == 0) {
            double sum = 0;
            for (const double value : u) sum += value;
            mean.push_back(sum / static_cast<double>(u.size()));
            centre.push_back(u[20 + nx * 10]);
        }
    }
    // No mirroring of roundings here: 40 diffusion steps do not amplify errors of an ulp.
    const auto near = [](const Values& found, const Values& expected) {
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-11) << i;
    };
    run_both("heat", {set("resolution", 200)}, 40, [&](auto& executor) {
        near(values_of(executor, "u"), u);
        near(series_of(executor, "mean_temperature"), mean);
        near(series_of(executor, "centre"), centre);
    });
}

TEST(StencilExamples, LightInAMicrodisk) {
    const std::size_t n = 160;
    const double courant = 0.5;
    const auto inside = [](std::size_t x, std::size_t y) {
        const double a = static_cast<double>(x) - 80, b = static_cast<double>(y) - 80;
        return a * a + b * b < 60 * 60;
    };
    Values Ex(n * n), Ey(n * n), Hz(n * n), energy(n * n);
    const int steps = 150;
    for (int step = 0; step < steps; ++step) {
        const double t = step;
        for (std::size_t y = 1; y < n; ++y)
            for (std::size_t x = 1; x < n; ++x) {
                const auto i = x + n * y;
                Ex[i] = std::fma(courant, Hz[i] - Hz[i - n], Ex[i]);
                Ey[i] = std::fma(courant, Hz[i - 1] - Hz[i], Ey[i]);
            }
        for (std::size_t y = 0; y + 1 < n; ++y)
            for (std::size_t x = 0; x + 1 < n; ++x) {
                const auto i = x + n * y;
                if (inside(x, y)) Hz[i] = std::fma(courant, Ex[i + n] - Ex[i] + Ey[i] - Ey[i + 1], Hz[i]);
            }
        const double s = (t - 60) / 20;
        Hz[140 + n * 80] += std::exp(-(s * s)) * std::sin(0.15 * t);
        for (std::size_t y = 0; y < n; ++y)
            for (std::size_t x = 0; x < n; ++x) {
                const auto i = x + n * y;
                if (inside(x, y)) energy[i] += Hz[i] * Hz[i];
            }
    }
    // exp and sin of the C library may differ by an ulp from those of the language: fields of size 1 within
    // 1e-13.
    run_both("microdisk", {set("cells", 160), set("radius", 60)}, steps, [&](auto& executor) {
        const auto near = [&](const char* name, const Values& expected, double tolerance) {
            const auto found = values_of(executor, name);
            for (std::size_t i = 0; i < found.size(); ++i)
                ASSERT_NEAR(found[i], expected[i], tolerance) << name << i;
        };
        near("Ex", Ex, 1e-13);
        near("Ey", Ey, 1e-13);
        near("Hz", Hz, 1e-13);
        near("energy", energy, 1e-12);
        EXPECT_GT(*std::max_element(energy.begin(), energy.end()), 1e-3);
    });
}

// Equations (1) to (3) of the paper with four different coefficients.
TEST(StencilExamples, ThePapersMicrodisk) {
    const std::size_t n = 160;
    const double ca = 0.98, cb = 0.495, da = 0.97, db = 0.48;
    Values Ex(n * n), Ey(n * n), Hz(n * n), sum(n * n);
    for (int step = 0; step < 150; ++step) {
        for (std::size_t i = n; i < n * n; ++i) {
            if (i % n == 0) continue;
            Ex[i] = ca * Ex[i] + cb * (Hz[i] - Hz[i - n]);
            Ey[i] = ca * Ey[i] + cb * (Hz[i - 1] - Hz[i]);
        }
        const double s = (step - 60) / 20.0;
        for (const bool source : {false, true})
            for (std::size_t y = 0; y + 1 < n; ++y)
                for (std::size_t x = 0; x + 1 < n; ++x) {
                    const auto i = x + n * y;
                    const double a = static_cast<double>(x) - 80, b = static_cast<double>(y) - 80;
                    if (source && x == 140 && y == 80) Hz[i] += std::exp(-(s * s)) * std::sin(0.15 * step);
                    if (a * a + b * b >= 60 * 60) continue;
                    if (!source) Hz[i] = da * Hz[i] + db * (Ex[i + n] - Ex[i] + Ey[i] - Ey[i + 1]);
                    if (source) sum[i] += Hz[i] * Hz[i];
                }
    }
    const auto real = [](const char* name, double value) {
        return farfield::stencil::ParameterValue{name, value};
    };
    // 150 steps, each with a few roundings of 1e-16 of fields below 1, and exp and sin of another library
    run_both("microdisk_paper",
             {set("cells", 160), set("radius", 60), real("ca", ca), real("cb", cb), real("da", da),
              real("db", db)},
             150, [&](auto& executor) {
                 const auto near = [&](const char* name, const Values& expected) {
                     const auto found = values_of(executor, name);
                     for (std::size_t i = 0; i < found.size(); ++i)
                         ASSERT_NEAR(found[i], expected[i], 1e-13) << name << i;
                 };
                 near("Ex", Ex);
                 near("Ey", Ey);
                 near("Hz", Hz);
                 near("Hz_sum", sum);
                 EXPECT_GT(*std::max_element(sum.begin(), sum.end()), 1e-3);
             });
}

TEST(StencilExamples, SoundPassesFromAirIntoHelium) {
    const std::size_t n = 64;
    const double size = 4.0, dx = 1.0 / 16, air = 343, helium = 1007, density = 1.2, dt = 0.5 * dx / helium;
    const auto damping = [&](std::size_t i) {
        const double X = static_cast<double>(i) * dx;
        return 1 - 0.02 * std::max({0.0, 20 - X / dx, 20 - (size - X) / dx}) / 20;
    };
    const auto wedge = [&](std::size_t x, std::size_t y) {
        const double X = static_cast<double>(x) * dx, Y = static_cast<double>(y) * dx;
        return X > 0.6 * size && std::fabs(Y - size / 2) < X - 0.6 * size;
    };
    Values p(n * n), vx(n * n), vy(n * n), microphone, loudest;
    for (int step = 0; step < 120; ++step) {
        for (std::size_t y = 0; y < n; ++y)
            for (std::size_t x = 0; x < n; ++x) {
                const auto i = x + n * y;
                const double left = x == 0 ? 0 : p[i - 1], below = y == 0 ? 0 : p[i - n];
                vx[i] = damping(x) * damping(y) * (vx[i] - dt / (density * dx) * (p[i] - left));
                vy[i] = damping(x) * damping(y) * (vy[i] - dt / (density * dx) * (p[i] - below));
            }
        for (std::size_t y = 0; y < n; ++y)
            for (std::size_t x = 0; x < n; ++x) {
                const auto i = x + n * y;
                const double speed = wedge(x, y) ? helium : air;
                const double right = x + 1 == n ? 0 : vx[i + 1], above = y + 1 == n ? 0 : vy[i + n];
                p[i] =
                    damping(x) * damping(y) *
                    (p[i] - dt * density * (speed * speed) * ((right - vx[i]) / dx + (above - vy[i]) / dx));
            }
        p[8 + n * 32] += dt * std::sin(2 * 3.14159265358979323846 * 1000.0 * (step * dt));
        microphone.push_back(p[56 + n * 32]);
        if ((step + 1) % 10 != 0) continue;
        double most = 0;
        for (std::size_t y = 0; y < n; ++y)
            for (std::size_t x = 0; x < n; ++x)
                if (wedge(x, y)) most = std::max(most, std::fabs(p[x + n * y]));
        loudest.push_back(most);
    }
    // Products are not fused here: differences of an ulp in each of 120 steps of a stable scheme.
    const double largest = *std::max_element(p.begin(), p.end());
    ASSERT_GT(largest, 1e-6);
    const auto near = [&](const Values& found, const Values& expected, double scale) {
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-12 * scale) << i;
    };
    run_both("acoustics", {set("resolution", 16)}, 120, [&](auto& executor) {
        near(values_of(executor, "p"), p, largest);
        near(series_of(executor, "microphone"), microphone, largest);
        near(series_of(executor, "loudest"), loudest, largest);
    });
}

} // namespace
