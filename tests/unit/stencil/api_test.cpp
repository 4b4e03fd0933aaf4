// StencilProgram and StencilRun, on programs whose every value is known.
#include "expect_error.h"

#include <farfield/stencil.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace {

using farfield::InvalidArgument;
using farfield::StencilOptions;
using farfield::StencilProgram;
using farfield::StencilRun;
using farfield::test::error_of;
using farfield::test::expect_contains;

constexpr const char* count = R"(program count
param n = 4, rate = 1.5
grid g[x: n, y: 3]
field u on g = x + 10*y
field v on g : float
update add: u += step + 1
update copy: v = rate*u
step: add, copy
record corner = u at (0, 0) every 2
record all = sum of v
time dt = 0.25, steps = 6
)";

StencilOptions interpreter() {
    StencilOptions options;
    options.target = "interpreter";
    return options;
}

TEST(StencilProgramApi, TellsWhatItHolds) {
    const auto program = StencilProgram::from_text(count, {{"n", 5}});
    EXPECT_EQ(program.name(), "count");
    EXPECT_EQ(program.fields(), (std::vector<std::string>{"u", "v"}));
    EXPECT_EQ(program.records(), (std::vector<std::string>{"corner", "all"}));
    EXPECT_EQ(program.steps(), 6);
    EXPECT_EQ(program.dt(), 0.25);
    ASSERT_EQ(program.parameters().size(), 2U);
    EXPECT_EQ(std::get<std::int64_t>(program.parameters()[0].value), 5);
    EXPECT_EQ(std::get<double>(program.parameters()[1].value), 1.5);
    EXPECT_EQ(StencilProgram::from_text(program.text()).text(), program.text());
}

TEST(StencilProgramApi, OtherParametersKeepTheEarlierOnes) {
    const auto program = StencilProgram::from_text(count, {{"n", 5}}).with({{"rate", 2.0}}).with({{"n", 6}});
    EXPECT_EQ(std::get<std::int64_t>(program.parameters()[0].value), 6);
    EXPECT_EQ(std::get<double>(program.parameters()[1].value), 2.0);
}

TEST(StencilProgramApi, AnEndThatIsNoMultipleIsPassed) {
    const auto steps = [](const std::string& end) {
        return StencilProgram::from_text(
                   "grid g[x: 4]\nfield u on g\nupdate a: u += 1\nstep: a\ntime dt = 0.1, end = " + end +
                   "\n")
            .steps();
    };
    EXPECT_EQ(steps("0.3"), 3); // 0.3/0.1 is 2.9999999999999996
    EXPECT_EQ(steps("0.31"), 4);
    EXPECT_EQ(steps("100"), 1000);
}

TEST(StencilRunApi, StepsFieldsAndSeries) {
    StencilRun run(StencilProgram::from_text(count), interpreter());
    EXPECT_EQ(run.field("u")(2, 3), 23); // rows along y, columns along x
    EXPECT_EQ(run.field("u").shape, (std::vector<std::int64_t>{3, 4}));
    run.advance(2);
    EXPECT_EQ(run.step(), 2);
    EXPECT_EQ(run.time(), 0.5);
    EXPECT_EQ(run.series("corner").values, (std::vector<double>{3})); // 1 + 2
    run.run();
    EXPECT_EQ(run.step(), 6);
    const auto corner = run.series("corner");
    EXPECT_EQ(corner.times, (std::vector<double>{0.5, 1.0, 1.5}));
    EXPECT_EQ(corner.values, (std::vector<double>{3, 10, 21})); // n (n + 1)/2
    const auto field = run.field("v");
    double sum = 0;
    for (const double value : field.values) sum += value;
    EXPECT_EQ(run.series("all").values.back(), sum);
    EXPECT_EQ(field(1, 2), 1.5 * (12 + 21));
}

TEST(StencilRunApi, SettingAField) {
    StencilRun run(StencilProgram::from_text(count), interpreter());
    std::vector<double> values(12, 0.1);
    run.set_field("u", values);
    run.set_field("v", values);
    EXPECT_EQ(run.field("u")(0, 0), 0.1);
    EXPECT_EQ(run.field("v")(0, 0), static_cast<double>(0.1F)); // floats are rounded
    run.advance(1);
    EXPECT_EQ(run.field("u")(2, 2), 1.1);
    values.pop_back();
    EXPECT_THROW(run.set_field("u", values), InvalidArgument);
}

TEST(StencilRunApi, StopsWhereAFieldIsNoLongerFinite) {
    StencilRun run(
        StencilProgram::from_text("grid g[x: 4]\nfield u on g = 1\nupdate a on x == 2: u *= 1.5\nstep: a\n"),
        interpreter());
    const auto text =
        error_of<farfield::Error>([&] { run.advance(100000); }); // 1.5^1751 is beyond the doubles
    expect_contains(text, {"'u' became inf in the cell (x = 2) between step 1536 and step 2048"});
    EXPECT_EQ(run.step(), 2048);
    std::vector<double> values(4, 1.0);
    values[3] = -std::nan("");
    expect_contains(error_of<InvalidArgument>([&] { run.set_field("u", values); }),
                    {" nan in the cell (x = 3)"});
    const farfield::StencilParameters infinite{{"rate", std::numeric_limits<double>::infinity()}};
    expect_contains(error_of<InvalidArgument>([&] { (void)StencilProgram::from_text(count, infinite); }),
                    {"rate = inf"});
    StencilOptions options = interpreter();
    options.threads = -4;
    expect_contains(
        error_of<InvalidArgument>([&] { (void)StencilRun(StencilProgram::from_text(count), options); }),
        {"threads = -4"});
}

TEST(StencilRunApi, Mistakes) {
    const auto program = StencilProgram::from_text(count);
    StencilRun run(program, interpreter());
    EXPECT_THROW((void)run.field("w"), InvalidArgument);
    EXPECT_THROW((void)run.series("u"), InvalidArgument);
    EXPECT_THROW(run.advance(-1), InvalidArgument);
    StencilOptions options;
    options.target = "abacus";
    EXPECT_THROW(StencilRun(program, options), InvalidArgument);
    EXPECT_THROW((void)StencilProgram::from_text("grid g[x: 4]\nfield u = w\n"), farfield::StencilError);
    // found by the analysis, not by the front end
    const auto outside =
        StencilProgram::from_text("grid g[x: 4]\nfield u, v on g\nupdate a: u = v[x-1]\nstep: a\n");
    EXPECT_THROW(StencilRun(outside, interpreter()), farfield::StencilError);
    const auto endless = StencilProgram::from_text("grid g[x: 4]\nfield u on g\nupdate a: u += 1\nstep: a\n");
    EXPECT_THROW(StencilRun(endless, interpreter()).run(), InvalidArgument);
}

} // namespace
