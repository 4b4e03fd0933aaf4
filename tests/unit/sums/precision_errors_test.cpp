// The errors of float and mixed precision that docs/guide/conventions.md states, with charges of both signs,
// where they are largest: against sums in double of inputs that are floats. Processors of different makers
// begin 1/√x of SSE and AVX2 differently: 7e-7 on an Intel Xeon, 7.5e-7 on an AMD EPYC.
#include "unit/sums/views.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace farfield;
using namespace farfield::test;

namespace {

double relative_error(const Values& values, const Values& exact) {
    double difference = 0.0;
    double size = 0.0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
        difference += (values[i] - exact[i]) * (values[i] - exact[i]);
        size += exact[i] * exact[i];
    }
    return std::sqrt(difference / size);
}

} // namespace

TEST(PrecisionErrors, WithChargesOfBothSignsAreThoseOfTheGuide) {
    constexpr double stated = 8e-7;
    for (unsigned seed = 1; seed <= 100; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        std::uniform_real_distribution<float> uniform(-1, 1);
        const auto n = std::size_t{2} + random() % 300;
        Values points(3 * n);
        Values charges(n);
        for (auto& x : points) x = static_cast<double>(uniform(random));
        for (auto& q : charges) q = static_cast<double>(uniform(random));
        SumOptions options{.kernel = Kernel::coulomb};
        options.device = {.kind = DeviceKind::cpu};
        const auto exact = sum(rows(points), list(charges), options);
        for (const auto precision : {Precision::float32, Precision::mixed}) {
            options.precision = precision;
            for (const auto isa : {Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512}) {
                if (!is_available(isa)) continue;
                options.isa = isa;
                const auto found = sum(rows(points), list(charges), options);
                EXPECT_LE(relative_error(found.field, exact.field), stated)
                    << name_of(precision) << ' ' << name_of(isa);
            }
        }
    }
}
