// Cases of two bodies for every integrator on every device that has it. A program of tests instantiates the
// suite with its pairs of integrator and device.
#pragma once

#include "dynamics/integrators/integrator.h"
#include "expect_error.h"
#include "gpu/needs_gpu.h"
#include "unit/dynamics/systems.h"

#include <farfield/error.h>
#include <farfield/simulation.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace farfield::test {

struct IntegratorOn {
    Integrator integrator;
    DeviceKind device;
};

inline std::string text_of(const IntegratorOn& pair) {
    return std::string(name_of(pair.integrator)) + (pair.device == DeviceKind::cuda ? "_on_gpu" : "_on_cpu");
}
inline void PrintTo(const IntegratorOn& pair, std::ostream* out) { *out << text_of(pair); }
inline std::string name_of_pair(const ::testing::TestParamInfo<IntegratorOn>& info) {
    return text_of(info.param);
}

class Orbits : public ::testing::TestWithParam<IntegratorOn> {
protected:
    void SetUp() override {
        if (GetParam().device == DeviceKind::cuda) {
            NEEDS_GPU();
        }
    }
    static int order() { return descriptor_of(GetParam().integrator).order; }
    static Simulation start(Bodies bodies, double step, double end, ForceOptions force = {}) {
        force.device = {.kind = GetParam().device};
        return {std::move(bodies), force, {.integrator = GetParam().integrator, .step = step, .end = end}};
    }
};

// Global error ~ h^order: halving the step divides it by 2^order, up to terms of the next order. The steps
// are small enough for these to change the slope by less than 0.15, large enough for rounding (1e-14) not to
// matter.
TEST_P(Orbits, ConvergeAtTheOrderOfTheIntegrator) {
    const KeplerOrbit orbit{.mu = 1, .a = 1, .e = 0.5L};
    const double end = 4.0;
    const auto exact = two_bodies(orbit, 0.75, 0.25, end);
    std::vector<double> errors;
    for (const int steps : {512, 1024, 2048}) {
        auto simulation = start(two_bodies(orbit, 0.75, 0.25), end / steps, end);
        simulation.advance_to(end);
        EXPECT_EQ(simulation.step_count(), static_cast<std::uint64_t>(steps));
        EXPECT_EQ(simulation.time(), end);
        errors.push_back(distance(simulation.bodies().position, exact.position) +
                         distance(simulation.bodies().velocity, exact.velocity));
    }
    for (std::size_t i = 1; i < errors.size(); ++i) {
        const double slope = std::log2(errors[i - 1] / errors[i]);
        EXPECT_NEAR(slope, order(), 0.15) << "errors " << errors[i - 1] << ' ' << errors[i];
        RecordProperty("slope" + std::to_string(i), std::to_string(slope));
    }
    EXPECT_LT(errors.back(), order() == 2 ? 1e-4 : 1e-7);
}

// Two opposite charges follow a Kepler orbit with μ = −G q₁q₂ (1/m₁ + 1/m₂).
TEST_P(Orbits, OfOppositeChargesAreKeplers) {
    struct Charges {
        double G, m1, m2, q1, q2, end;
    };
    for (const auto& c : {Charges{2.0, 1.5, 0.5, 0.8, -1.25, 1.5}, {1.0, 2.0, 0.5, 0.8, -0.8, 2.0}}) {
        const KeplerOrbit orbit{.mu = -c.G * c.q1 * c.q2 * (1 / c.m1 + 1 / c.m2), .a = 1, .e = 0.3L};
        auto bodies = two_bodies(orbit, c.m1, c.m2);
        bodies.charge = {c.q1, c.q2};
        auto simulation = start(bodies, c.end / 4096, c.end, {.kernel = Kernel::coulomb, .G = c.G});
        simulation.advance_to(c.end);
        EXPECT_TRUE(simulation.finished());
        EXPECT_LT(distance(simulation.bodies().position, two_bodies(orbit, c.m1, c.m2, c.end).position),
                  order() == 2 ? 1e-5 : 1e-10);
    }
}

// Massless, so on straight lines that meet at t = 1.
TEST_P(Orbits, OfUnsoftenedBodiesStopWhereTheyMeet) {
    auto bodies = make({-1, 0, 0, 1, 0, 0}, {1, 0, 0, -1, 0, 0}, {0, 0});
    bodies.id = {5, 6};
    auto simulation = start(bodies, 0.25, 2.0);
    const auto reach = [&] {
        simulation.advance_to(2.0);
        (void)simulation.bodies();
    };
    if (GetParam().integrator == Integrator::yoshida4)
        EXPECT_NO_THROW(reach()); // its inner steps end elsewhere
    else
        expect_contains(error_of<InvalidArgument>(reach),
                        {"step 4 from t = 0.75", "bodies 5 and 6", "softening"});
}

TEST_P(Orbits, OfBodiesInTheSamePlaceDoNotStart) {
    const auto together = make({1, 0, 0, 1, 0, 0}, {0, 0, 0, 0, 0, 0}, {1, 1});
    expect_contains(error_of<InvalidArgument>([&] { start(together, 0.25, 2.0); }),
                    {"bodies 1 and 2", "same place"});
}

} // namespace farfield::test
