// Random programs: the interpreter against a walk over the trees of the model, which shares no code with the
// compiler. Bits are the same, NaN equals NaN; sums are compared within their rounding errors.
// FARFIELD_RANDOM_PROGRAMS worlds (300) are made from the seed FARFIELD_RANDOM_SEED (1) on; a message names
// the seed.
#include "property/random_programs.h"
#include "unit/stencil/compiled.h"
#include "unit/stencil/results.h"
#include "unit/stencil/tree_oracle.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

namespace farfield::testing {
namespace {

// Sums in another order: within 1e-9 of the largest number of the series, as terms may cancel; anything where
// the terms themselves overflow.
bool near(double a, double b) {
    return same(a, b) || !std::isfinite(a) || !std::isfinite(b) ||
           std::fabs(a - b) <= 1e-9 * (1 + std::fabs(a));
}

void compare(const std::string& text, int steps, std::int64_t& finite, std::int64_t& values) {
    stencil::CompileOptions options;
    options.optimise = false;
    options.allow_unstable = true;
    options.check_whole_numbers = false; // they divide by 0 at random
    const Compiled compiled(text, options);
    ASSERT_NE(compiled.program(), nullptr);
    const auto& model = compiled.model();
    const auto executor = compiled.start();
    TreeOracle oracle(model);
    executor->advance(steps);
    oracle.advance(steps);
    for (std::size_t i = 0; i < model.fields.size(); ++i) {
        const auto found = values_of(*executor, model.fields[i].name);
        const auto& expected = oracle.field(i);
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t c = 0; c < found.size(); ++c) {
            ASSERT_TRUE(same(found[c], expected[c])) << fmt::format(
                "{}[{}] is {}, and should be {}", model.fields[i].name, c, found[c], expected[c]);
            finite += std::isfinite(found[c]) ? 1 : 0;
        }
        values += static_cast<std::int64_t>(found.size());
    }
    for (std::size_t i = 0; i < model.records.size(); ++i) {
        const auto found = executor->take_series(static_cast<int>(i));
        ASSERT_EQ(found.size(), oracle.series(i).size());
        const auto reduction = model.records[i].reduction;
        const bool adds = reduction == stencil::Reduction::sum || reduction == stencil::Reduction::mean;
        for (std::size_t s = 0; s < found.size(); ++s)
            ASSERT_TRUE(adds ? near(found[s], oracle.series(i)[s]) : same(found[s], oracle.series(i)[s]))
                << fmt::format("{} {}: {}, and should be {}", model.records[i].name, s, found[s],
                               oracle.series(i)[s]);
    }
}

TEST(RandomPrograms, AreInterpretedAsTheirTreesRead) {
    const auto wanted = static_cast<std::int64_t>(number_from("FARFIELD_RANDOM_PROGRAMS", 300));
    auto seed = number_from("FARFIELD_RANDOM_SEED", 1) + 500000000;
    std::int64_t refused = 0;
    std::int64_t finite = 0;
    std::int64_t values = 0;
    for (std::int64_t done = 0; done < wanted; ++seed) {
        const auto text = program_of({random_world(seed, "")});
        if (compiled_random(text) == nullptr) {
            ASSERT_LE(++refused, 3 * wanted + 20) << "most programs are refused";
            continue;
        }
        ++done;
        SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
        compare(text, 7, finite, values);
        if (HasFailure()) return;
    }
    EXPECT_GT(2 * finite, values); // else little is tested
    std::printf("%lld programs refused, %lld of %lld values finite\n", static_cast<long long>(refused),
                static_cast<long long>(finite), static_cast<long long>(values));
}

} // namespace
} // namespace farfield::testing
