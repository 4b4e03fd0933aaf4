// SumPlan: what it refuses and how it says so, what it accepts, and what it reports.
#include "backend/threads/parallel.h"
#include "parity/sum_plan_cases.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace farfield {
namespace {

using test::error_of;
using test::expect_contains;
using test::list;
using test::rows;
using test::Values;

const Values three_points{0, 0, 0, 1, 0, 0, 0, 2, 0};
const Values three_strengths{1, 2, 3};

struct OnCpu {
    static std::string why_not() { return {}; }
    static DeviceChoice device() { return {.kind = DeviceKind::cpu}; }
};
INSTANTIATE_TYPED_TEST_SUITE_P(OnCpu, SumPlanCases, OnCpu);

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

TEST(SumPlan, RefusesWrongShapes) {
    expect_contains(error_of<InvalidArgument>([&] { sum(list(three_points), list(three_strengths)); }),
                    {"sources", "{9}", "N×3"});
    const ConstArrayView four(three_points.data(), DType::float64, {2, 4});
    expect_contains(error_of<InvalidArgument>([&] { sum(four, list(three_strengths)); }), {"{2, 4}"});
    const Values two{1, 2};
    expect_contains(error_of<InvalidArgument>([&] { sum(rows(three_points), list(two)); }),
                    {"strengths", "{2}", "{3}"});
    Values out(3);
    SumPlan plan(rows(three_points));
    expect_contains(error_of<InvalidArgument>(
                        [&] { plan.execute(list(three_strengths), {.field = std::span<double>(out)}); }),
                    {"field", "{3}", "{3, 3}"});
    const ConstArrayView lost(nullptr, DType::float64, {3, 3});
    expect_contains(error_of<InvalidArgument>([&] { sum(lost, list(three_strengths)); }), {"null"});
    const ConstArrayView away(three_points.data(), DType::float64, {3, 3}, {DeviceType::cuda, 0});
    expect_contains(error_of<InvalidArgument>(
                        [&] { sum(away, list(three_strengths), {.device = {.kind = DeviceKind::cpu}}); }),
                    {"cuda:0", "device = cpu", "host memory"});
    // a plan on the CPU is not asked by its later arrays where to run
    SumPlan on_cpu(rows(three_points), {.device = {.kind = DeviceKind::cpu}});
    const ConstArrayView q_away(three_strengths.data(), DType::float64, {3}, {DeviceType::cuda, 1});
    expect_contains(
        error_of<InvalidArgument>([&] { on_cpu.execute(q_away, {.potential = std::span<double>(out)}); }),
        {"strengths", "cuda:1", "CPU"});
    const ArrayView out_away(out.data(), DType::float64, {3}, {DeviceType::cuda, 1});
    expect_contains(
        error_of<InvalidArgument>([&] { on_cpu.execute(list(three_strengths), {.potential = out_away}); }),
        {"potential", "cuda:1"});
}

TEST(SumPlan, RefusesOptionsThatAreNotAllowed) {
    for (double softening : {-0.1, std::nan(""), std::numeric_limits<double>::infinity()})
        expect_contains(
            error_of<InvalidArgument>([&] { SumPlan(rows(three_points), {.softening = softening}); }),
            {"softening"});
    expect_contains(error_of<InvalidArgument>([&] { SumPlan(rows(three_points), {.threads = -1}); }),
                    {"threads", "-1"});
    expect_contains(error_of<InvalidArgument>([&] {
                        SumPlan(rows(three_points), rows(three_points), {.variant = Variant::symmetric});
                    }),
                    {"symmetric", "targets"});
    expect_contains(
        error_of<InvalidArgument>([&] { SumPlan(rows(three_points), {.kernel = static_cast<Kernel>(9)}); }),
        {"kernel"});
}

// By default; whoever names a number gets it. 300 targets are two tasks.
TEST(SumPlan, AShortSumTakesOneThread) {
    const auto threads_of = [](std::size_t sources, std::size_t targets, const SumOptions& options) {
        Values from, at;
        for (std::size_t k = 0; k < 3 * sources; ++k) from.push_back(std::sin(static_cast<double>(k + 1)));
        for (std::size_t k = 0; k < 3 * targets; ++k) at.push_back(std::cos(static_cast<double>(k + 1)));
        return sum(rows(from), rows(at), list(Values(sources, 1.0)), options).report.threads;
    };
    const DeviceChoice cpu{.kind = DeviceKind::cpu};
    const int all = thread_count(0);
    EXPECT_EQ(threads_of(10, 300, {.device = cpu}), 1);
    EXPECT_EQ(threads_of(10, 300, {.threads = 2, .device = cpu}), 2);
    EXPECT_EQ(threads_of(100000, 300, {.device = cpu}), all);
    EXPECT_EQ(threads_of(10, 30, {.method = Method::reference}), 1);
    EXPECT_EQ(threads_of(10, 30, {.method = Method::reference, .threads = 2}), 2);
    EXPECT_EQ(threads_of(1000, 1000, {.method = Method::reference}), all);
    EXPECT_EQ(threads_of(4, 4, {.method = Method::fmm, .order = 2}), 1);
    EXPECT_EQ(threads_of(4, 4, {.method = Method::fmm, .order = 2, .threads = 2}), 2);
    EXPECT_EQ(threads_of(20000, 20000, {.method = Method::fmm, .order = 2}), all);
}

TEST(SumPlan, UpdateKeepsCounts) {
    SumPlan plan(rows(three_points));
    const Values two{0, 0, 0, 1, 1, 1};
    expect_contains(error_of<InvalidArgument>([&] { plan.update(rows(two)); }), {"sources", "2", "3"});
    expect_contains(error_of<InvalidArgument>([&] { plan.update(rows(three_points), rows(three_points)); }),
                    {"targets"});
    const Values moved{0, 0, 0, 2, 0, 0, 0, 4, 0};
    plan.update(rows(moved));
    Values potential(3);
    plan.execute(list(three_strengths), {.potential = std::span<double>(potential)});
    EXPECT_NEAR(potential[0], -(2.0 / 2 + 3.0 / 4), 1e-15);
}

// Rows of coincident points are summed again, pair by pair, which takes far longer than the sum before it.
// That asks once, as it is short.
TEST(SumPlan, IsGivenUpWhileRowsAreSummedAgain) {
    constexpr std::size_t n = 1000;
    const Values place(3 * n, 0.25), ones(n, 1.0);
    for (const auto method : {Method::direct, Method::fmm, Method::treecode}) {
        SumOptions options{.method = method, .coincident = Coincident::skip, .threads = 1};
        if (method != Method::direct) options.order = 4;
        if (method == Method::treecode) options.theta = 0.5;
        SumPlan plan(rows(place), options);
        Values potential(n);
        int asked = 0;
        const SumOutputs outputs{
            .potential = ArrayView(std::span<double>(potential)), .field = {}, .gradient = {}};
        EXPECT_THROW(plan.execute(list(ones), outputs,
                                  {.progress = {}, .stop_requested = [&] { return ++asked > 1; }}),
                     Interrupted)
            << name_of(method);
        EXPECT_EQ(asked, 2) << name_of(method);
        plan.execute(list(ones), outputs);
        EXPECT_EQ(potential, Values(n, 0.0)) << name_of(method);
        EXPECT_EQ(plan.report().direct.coincident_pairs_skipped, static_cast<std::int64_t>(n * (n - 1)));
    }
}

} // namespace
} // namespace farfield
