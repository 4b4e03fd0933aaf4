// SumPlan: what it refuses and how it says so, what it accepts, and what it reports.
#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace farfield {
namespace {

using Values = std::vector<double>;

const Values points{0, 0, 0, 1, 0, 0, 0, 2, 0};
const Values strengths{1, 2, 3};

ConstArrayView rows(const Values& values) { return matrix_view(std::span<const double>(values), 3); }
ConstArrayView list(const Values& values) { return {std::span<const double>(values)}; }

/// The message of the InvalidArgument that `body` throws; fails the test where it throws nothing.
template <class Body>
std::string message_of(Body&& body) {
    try {
        body();
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

void expect_words(const std::string& text, std::initializer_list<const char*> words) {
    for (const auto* word : words) EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
}

TEST(SumPlan, TwoBodiesByHand) {
    // At distance 2 a mass 3 pulls with 3/4 and has potential −3/2; a charge pushes with the same.
    const Values pair{0, 0, 0, 0, 2, 0};
    const Values q{1, 3};
    auto gravity = sum(rows(pair), list(q));
    EXPECT_DOUBLE_EQ(gravity.potential[0], -1.5);
    EXPECT_DOUBLE_EQ(gravity.field[1], 0.75);
    EXPECT_DOUBLE_EQ(gravity.field[4], -0.25);
    EXPECT_EQ(gravity.report.direct.pairs, 2);
    auto coulomb = sum(rows(pair), list(q), {.kernel = Kernel::coulomb});
    EXPECT_DOUBLE_EQ(coulomb.potential[0], 1.5);
    EXPECT_DOUBLE_EQ(coulomb.field[1], -0.75);
}

TEST(SumPlan, RefusesWhatIsNotFiniteAndNamesTheRow) {
    auto broken = points;
    broken[4] = std::nan("");
    expect_words(message_of([&] { sum(rows(broken), list(strengths)); }), {"sources", "row 1", "y", "nan"});
    expect_words(message_of([&] { sum(rows(points), rows(broken), list(strengths)); }), {"targets", "row 1"});
    auto heavy = strengths;
    heavy[2] = std::numeric_limits<double>::infinity();
    expect_words(message_of([&] { sum(rows(points), list(heavy)); }), {"strengths", "row 2", "inf"});
}

TEST(SumPlan, RefusesWrongShapes) {
    expect_words(message_of([&] { sum(list(points), list(strengths)); }), {"sources", "{9}", "N×3"});
    const ConstArrayView four(points.data(), DType::float64, {2, 4});
    expect_words(message_of([&] { sum(four, list(strengths)); }), {"{2, 4}"});
    const Values two{1, 2};
    expect_words(message_of([&] { sum(rows(points), list(two)); }), {"strengths", "{2}", "{3}"});
    Values out(3);
    SumPlan plan(rows(points));
    expect_words(message_of([&] { plan.execute(list(strengths), {.field = std::span<double>(out)}); }),
                 {"field", "{3}", "{3, 3}"});
    const ConstArrayView lost(nullptr, DType::float64, {3, 3});
    expect_words(message_of([&] { sum(lost, list(strengths)); }), {"null"});
    const ConstArrayView away(points.data(), DType::float64, {3, 3}, {DeviceType::cuda, 0});
    expect_words(message_of([&] { sum(away, list(strengths), {.device = {.kind = DeviceKind::cpu}}); }),
                 {"cuda:0", "'cpu'", "host memory"});
    // a plan on the CPU is not asked by its later arrays where to run
    SumPlan on_cpu(rows(points), {.device = {.kind = DeviceKind::cpu}});
    const ConstArrayView q_away(strengths.data(), DType::float64, {3}, {DeviceType::cuda, 1});
    expect_words(message_of([&] { on_cpu.execute(q_away, {.potential = std::span<double>(out)}); }),
                 {"strengths", "cuda:1", "CPU"});
    const ArrayView out_away(out.data(), DType::float64, {3}, {DeviceType::cuda, 1});
    expect_words(message_of([&] { on_cpu.execute(list(strengths), {.potential = out_away}); }),
                 {"potential", "cuda:1"});
}

TEST(SumPlan, RefusesOptionsThatAreNotAllowed) {
    for (double softening : {-0.1, std::nan(""), std::numeric_limits<double>::infinity()})
        expect_words(message_of([&] { SumPlan(rows(points), {.softening = softening}); }), {"softening"});
    expect_words(message_of([&] { SumPlan(rows(points), {.threads = -1}); }), {"threads", "-1"});
    expect_words(message_of([&] { SumPlan(rows(points), rows(points), {.variant = Variant::symmetric}); }),
                 {"symmetric", "targets"});
    expect_words(message_of([&] { SumPlan(rows(points), {.kernel = static_cast<Kernel>(9)}); }), {"kernel"});
}

TEST(SumPlan, UpdateKeepsCounts) {
    SumPlan plan(rows(points));
    const Values two{0, 0, 0, 1, 1, 1};
    expect_words(message_of([&] { plan.update(rows(two)); }), {"sources", "2", "3"});
    expect_words(message_of([&] { plan.update(rows(points), rows(points)); }), {"targets"});
    const Values moved{0, 0, 0, 2, 0, 0, 0, 4, 0};
    plan.update(rows(moved));
    Values potential(3);
    plan.execute(list(strengths), {.potential = std::span<double>(potential)});
    EXPECT_NEAR(potential[0], -(2.0 / 2 + 3.0 / 4), 1e-15);
}

TEST(SumPlan, CoincidentPointsNameBothRows) {
    const Values twins{0, 0, 0, 1, 1, 1, 2, 0, 0, 1, 1, 1};
    const Values q{1, 2, 3, 4};
    for (auto precision : {Precision::float64, Precision::float32, Precision::mixed}) {
        expect_words(message_of([&] { sum(rows(twins), list(q), {.precision = precision}); }),
                     {"1", "3", "same place", "softening", "skip"});
        expect_words(message_of([&] { sum(rows(twins), rows(points), list(q), {.precision = precision}); }),
                     {"targets: row 0", "row 0 of the sources"});
        auto skipped = sum(rows(twins), list(q), {.precision = precision, .coincident = Coincident::skip});
        EXPECT_EQ(skipped.report.direct.coincident_pairs_skipped, 2);
        // The twins at (1,1,1) do not act on each other: 1/√3 and 3/√3 from the rest.
        EXPECT_NEAR(skipped.potential[1], -4.0 / std::sqrt(3.0), 1e-6);
        EXPECT_NEAR(skipped.potential[3], -4.0 / std::sqrt(3.0), 1e-6);
        // Softened, they are an ordinary pair without force on each other.
        auto soft = sum(rows(twins), list(q), {.softening = 0.5, .precision = precision});
        EXPECT_EQ(soft.report.direct.coincident_pairs_skipped, 0);
        EXPECT_NEAR(soft.potential[1], -(4.0 / std::sqrt(3.25) + 4.0 / 0.5), 1e-5);
    }
}

TEST(SumPlan, AnyStridesAndTypes) {
    // Columns stored one after the other, backwards, in float; outputs into every second element.
    const std::vector<float> columns{0, 1, 0, 0, 0, 2, 0, 0, 0}; // x of three points, y, z
    ConstArrayView view(columns.data(), DType::float32, {3, 3});
    view.strides = {1, 3};
    std::vector<float> reversed{3, 2, 1};
    ConstArrayView q(reversed.data() + 2, DType::float32, {3});
    q.strides = {-1, 0};
    Values out(6, -7.0);
    ArrayView potential(out.data(), DType::float64, {3});
    potential.strides = {2, 0};
    const Values same{0, 0, 0, 1, 0, 0, 0, 2, 0};
    SumPlan plan(view);
    plan.execute(q, {.potential = potential});
    const auto expected = sum(rows(same), list(strengths));
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(out[2 * i], expected.potential[i]);
        EXPECT_EQ(out[2 * i + 1], -7.0);
    }
}

TEST(SumPlan, EmptyAndSingle) {
    const Values none;
    const auto nothing = sum(rows(none), list(none));
    EXPECT_TRUE(nothing.potential.empty());
    const auto far = sum(rows(none), rows(points), list(none));
    EXPECT_EQ(far.potential, (Values{0, 0, 0}));
    const Values one{1, 2, 3};
    const Values mass{5};
    const auto alone = sum(rows(one), list(mass), {.softening = 0.1});
    EXPECT_EQ(alone.potential[0], 0.0);
    EXPECT_EQ(alone.field, (Values{0, 0, 0}));
}

} // namespace
} // namespace farfield
