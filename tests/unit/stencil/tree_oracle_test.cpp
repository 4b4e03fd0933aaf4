// The interpreter, as lowered and with all passes, against a walk over the trees of the model: the examples,
// and small programs of what they do not use.
#include "compiled.h"
#include "tree_oracle.h"

#include "stencil/analysis/analysis.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace farfield::testing {
namespace {

void expect_same_bits(const std::vector<double>& found, const std::vector<double>& expected,
                      const std::string& name) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
        if (std::memcmp(&found[i], &expected[i], sizeof(double)) != 0 || !std::isfinite(found[i])) {
            ADD_FAILURE() << fmt::format("{}[{}] is {}, and should be {}", name, i, found[i], expected[i]);
            return;
        }
}

void compare(const std::string& text, int steps,
             const std::vector<stencil::ParameterValue>& parameters = {}) {
    for (const bool optimise : {false, true}) {
        SCOPED_TRACE(optimise ? "optimised" : "as lowered");
        stencil::CompileOptions options;
        options.optimise = optimise;
        options.allow_unstable = true;
        const Compiled compiled(text, options, parameters);
        ASSERT_NE(compiled.program(), nullptr);
        const auto& model = compiled.model();
        const auto executor = compiled.start();
        TreeOracle oracle(model);
        for (int done = 0; done < steps; done += 2) { // in two halves of steps: `step` and copies go on
            executor->advance(2);
            oracle.advance(2);
        }
        for (std::size_t i = 0; i < model.fields.size(); ++i)
            expect_same_bits(values_of(*executor, model.fields[i].name), oracle.field(i),
                             model.fields[i].name);
        for (std::size_t i = 0; i < model.records.size(); ++i) {
            const auto found = executor->take_series(static_cast<int>(i));
            const auto& expected = oracle.series(i);
            ASSERT_EQ(found.size(), expected.size());
            const auto reduction = model.records[i].reduction;
            // another order of additions: 1e-13 of numbers that do not cancel
            const bool adds = reduction == stencil::Reduction::sum || reduction == stencil::Reduction::mean;
            for (std::size_t s = 0; s < found.size(); ++s)
                EXPECT_NEAR(found[s], expected[s], adds ? 1e-12 * (1 + std::fabs(expected[s])) : 0.0)
                    << model.records[i].name << ' ' << s;
        }
    }
}

struct Example {
    const char* name;
    int steps;
    std::vector<std::string> parameters;
};

TEST(TreeOracle, AgreesOnTheExamples) {
    const std::vector<Example> examples{{"acoustics", 12, {"resolution=12"}},
                                        {"cpml", 10, {"cells=36", "layer=8", "probe_x=5", "probe_y=3"}},
                                        {"dielectric_disk", 6, {"radius=6.0"}},
                                        {"drude_slab", 20, {"sampling=16.0"}},
                                        {"gray_scott", 10, {"n=26"}},
                                        {"heat", 10, {"resolution=150"}},
                                        {"life", 20, {"n=15"}},
                                        {"lorentz_slab", 20, {"sampling=16.0"}},
                                        {"magnetic_disk", 8, {"radius=8.0"}},
                                        {"metal_disk", 8, {"radius=8.0"}},
                                        {"metal_disk_cut", 8, {"radius=8.0"}},
                                        {"microdisk", 12, {"cells=150", "radius=12"}},
                                        {"periodic_wave", 10, {}},
                                        {"plane_wave", 6, {"cells_x=60", "cells_y=40", "radius=4.0"}},
                                        {"red_black", 10, {"n=19"}},
                                        {"tm_disk", 8, {"radius=8.0"}},
                                        {"yee_cavity", 4, {"nx=8", "ny=9", "nz=7"}}};
    for (const auto& example : examples) {
        SCOPED_TRACE(example.name);
        std::vector<stencil::ParameterValue> parameters;
        for (const auto& text : example.parameters) parameters.push_back(stencil::parse_parameter(text));
        compare(text_of_file(std::string(FARFIELD_EXAMPLES) + "/stencil/" + example.name + ".ff"),
                example.steps, parameters);
    }
}

TEST(TreeOracle, AgreesOnMixedPrecisionAndWholeNumbers) {
    compare("param n = 21, p = 3, q = 0.3\ngrid g[x: n, y: 9]\ntime dt = 0.1\n"
            "array w[y] on g at (y+1/2) : float = cos(Y)/3\n"
            "field k on g : float, read-only = q*x + w\n"
            "subdomain s(x, y) = k > 2 and (x + y) % 3 != 1\n"
            "field a on g at (x+1/2, y) : float = X*Y/7 - x//4\n"
            "field b on g : float, double-buffered = q*x + y % 3\n"
            "field c on g : double = if s then sin(X) + k else -w\n"
            "coefficient m on g : float:\n    s: k^2\n    not s and x < 5: 1/3\n    elsewhere: q\n"
            "boundary a: mirror in x, zero in y\nboundary b: periodic\nboundary c: clamp\n"
            "update one on interior:\n    let d = tanh(c[x-2, y+1] - a*b) + 2\n    let e = cos(d)*d - q*t\n"
            "    b = 0.1*b[x+1, y-1]*d + m*e*0.01 - 3*step\n    a -= 0.01*e*q*(t + 1)\n"
            "update two on s or y == 2:\n    c = q*t*p + tanh(b[x+1])*c*0.01 + q*c - (x - 3)*(y + 1)\n"
            "    a = if c > 0 then a else p//2\n"
            "update three: b *= 0.1 - 0.01*w*min(abs(a[x-2, y+3]), 2, y)^2/(1 + x^2)\n"
            "update four: a = max(x % 4, a/2 - 1)*0.1 + exp(-Y*q) + p^-2 + m^0.5 + (if s then t else 1)\n"
            "update five: a = 0.1*a + X + Y*2 - 0.1*tanh(c[x-3, y+4])*c[x+2]\n"
            "source at_point at (3, 4): b += sin(2*pi*t)*k\n"
            "source lines at (2 to 9, y): c -= t^2 - 1/3*q\n"
            "record r1 = max of a*b - c on s every 3\nrecord r2 = sum of a*a + b*b\nrecord r3 = mean of x*y "
            "+ t on s\n"
            "record r4 = c[x+1] - c at (20, 4)\nrecord r5 = min of b[x-1]*2 - 1\n"
            "step: one, two every 2, three, four every 5, at_point, five, lines\n",
            12);
}

TEST(TreeOracle, AgreesOnThreeDimensionsOnOtherAxesAndSeveralGrids) {
    compare("grid g[x: 2.0, z: 1.0 to 2.5] sampling 6\ngrid h[y: 33]\n"
            "field u on g at (x+1/2, z-1/2) : double, double-buffered = X - Z^2\nfield v on g = x*z\n"
            "field w on h : float, double-buffered = Y/3\nboundary u: clamp in x, periodic in z\nboundary w: "
            "mirror\n"
            "subdomain ring(x, z) on g at (x, z+1/2) = 0.1 < (X - 1)^2 + (Z - 2)^2 < 0.9\n"
            "update a on not ring: u = 0.25*(u[x-1] + u[x+3] + u[z+7] + u[z-2])*dx - v[x, z]\n"
            "update b on interior or ring: v += u*dz - 0.1*v\n"
            "update c on interior: v = 0.05*v*u[x-1] - u[z+1]*v*0.01\n"
            "update d: w = (w[y-33] + w[y+33] + w[y+1]*2)/4\n"
            "source s at (0.9, z): u = Z + t\nrecord r = mean of u*v on ring\nrecord q = w at (5)\nstep: a, "
            "b, s, c, d\n",
            10);
}

} // namespace
} // namespace farfield::testing
