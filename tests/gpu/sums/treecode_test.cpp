// The tree code on a GPU: as accurate, against every pair in double, as the CPU's with groups of targets of
// that size, order and opening angle. Reaches of cells are rounded to floats there, so that some cell may be
// accepted by the one and not by the other. Rounding of floats is that of fmm_softened_test.cpp.
#include "gpu/needs_gpu.h"
#include "gpu/sums/fmm_clouds.h"
#include "sums/asked.h"
#include "sums/treecode/tree_sum.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace farfield {
namespace {

using test::charges;
using test::Cloud;
using test::cloud;
using test::relative_error;
using test::Values;

struct TreeCase {
    Cloud kind = Cloud::cube;
    int n = 5000;
    int m = 0; ///< 0: targets are the sources
    int order = 2;
    double theta = 0.7;
    double softening = 0.0;
    Precision precision = Precision::float64;
    bool masses = false;
    OutputSet outputs = Output::potential | Output::field;
};

SumOptions options_of(const TreeCase& at, DeviceKind device) {
    SumOptions options{.kernel = Kernel::coulomb,
                       .method = Method::treecode,
                       .softening = at.softening,
                       .precision = at.precision};
    options.device.kind = device;
    options.order = at.order;
    options.theta = at.theta;
    options.leaf = 8;
    options.outputs = at.outputs;
    return options;
}

struct Bodies {
    Values sources, targets, q;

    explicit Bodies(const TreeCase& at)
        : sources(cloud(at.kind, at.n, 3)), targets(cloud(at.kind, at.m, 4)), q(charges(at.n, 5)) {
        if (at.masses)
            for (auto& value : q) value = std::abs(value);
    }
    [[nodiscard]] SumResult sum_with(const SumOptions& options) const {
        return targets.empty()
                   ? sum(test::rows(sources), test::list(q), options, options.outputs)
                   : sum(test::rows(sources), test::rows(targets), test::list(q), options, options.outputs);
    }
    /// By the CPU's tree code, with groups of that many targets.
    [[nodiscard]] SumResult on_host(const TreeCase& at, int group) const {
        const auto options = options_of(at, DeviceKind::cpu);
        const auto list = [](const Values& from) { return RawVector<double>(from.begin(), from.end()); };
        const auto to = targets.empty() ? ConstArrayView{} : ConstArrayView(test::rows(targets));
        TreecodeSum sum(problem_of(options, test::rows(sources), targets.empty() ? nullptr : &to), options,
                        group);
        sum.set_points(list(sources), list(targets));
        SumResult out;
        const auto rows = static_cast<std::size_t>(at.m > 0 ? at.m : at.n);
        if (at.outputs.has(Output::potential)) out.potential.resize(rows);
        if (at.outputs.has(Output::field)) out.field.resize(3 * rows);
        sum.compute(q, {},
                    {.potential = out.potential.empty() ? nullptr : out.potential.data(),
                     .field = out.field.empty() ? nullptr : out.field.data()},
                    out.report, {});
        return out;
    }
    [[nodiscard]] SumResult exact(const TreeCase& at) const {
        auto options = options_of(at, DeviceKind::cpu);
        options.method = Method::direct;
        options.precision = Precision::float64;
        options.order = options.leaf = 0;
        options.theta = 0.0;
        return sum_with(options);
    }
};

void expect_like_the_host(const TreeCase& at) {
    SCOPED_TRACE("cloud " + std::to_string(static_cast<int>(at.kind)) + ", targets " + std::to_string(at.m) +
                 ", order " + std::to_string(at.order) + ", softening " + std::to_string(at.softening) +
                 (at.masses ? ", masses" : ""));
    const Bodies bodies(at);
    const auto exact = bodies.exact(at);
    const auto host = bodies.on_host(at, 64);
    const auto got = bodies.sum_with(options_of(at, DeviceKind::cuda));
    EXPECT_EQ(got.report.device.kind, DeviceKind::cuda);
    EXPECT_GT(got.report.treecode.far_pairs, 0);
    EXPECT_GT(got.report.treecode.groups, 0);
    const double rounding = at.precision == Precision::float64
                                ? 1e-12
                                : test::float_rounding(bodies.sources, bodies.targets, at.softening);
    const auto compare = [&](const Values& here, const Values& there, const Values& all) {
        ASSERT_EQ(here.size(), there.size());
        if (here.empty()) return;
        EXPECT_LT(relative_error(here, all), 1.05 * relative_error(there, all) + rounding);
    };
    compare(got.potential, host.potential, exact.potential);
    compare(got.field, host.field, exact.field);
    const auto again = bodies.sum_with(options_of(at, DeviceKind::cuda));
    EXPECT_EQ(got.potential, again.potential); // the same bits
    EXPECT_EQ(got.field, again.field);
}

TEST(TreecodeOnGpu, IsAsAccurateAsOnTheHost) {
    NEEDS_GPU();
    for (const auto kind : {Cloud::cube, Cloud::clustered, Cloud::sphere, Cloud::plummer})
        for (const int m : {0, 700})
            for (const double softening : {0.0, 0.02, 30.0})
                for (const bool masses : {false, true})
                    expect_like_the_host({.kind = kind, .m = m, .softening = softening, .masses = masses});
}

// Each order that has loops of its own, and others.
TEST(TreecodeOnGpu, HasEveryOrder) {
    NEEDS_GPU();
    for (const auto precision : {Precision::float32, Precision::mixed, Precision::float64})
        for (const int order : {1, 2, 3, 4, 5, 8, 12})
            for (const bool masses : {false, true})
                expect_like_the_host({.kind = Cloud::plummer,
                                      .order = order,
                                      .theta = order > 4 ? 1.0 : 0.7,
                                      .softening = 0.01,
                                      .precision = precision,
                                      .masses = masses});
}

TEST(TreecodeOnGpu, HasEachOutputAlone) {
    NEEDS_GPU();
    for (const int order : {1, 2}) {
        expect_like_the_host({.order = order, .masses = true, .outputs = Output::potential});
        expect_like_the_host({.order = order, .masses = true, .outputs = Output::field});
    }
}

// Mixed precision keeps the digits of pairs that are close beside their distance from anything else.
TEST(TreecodeOnGpu, MixedPrecisionKeepsClosePairs) {
    NEEDS_GPU();
    TreeCase at{.n = 2000, .theta = 0.05, .precision = Precision::mixed, .masses = true};
    Bodies bodies(at);
    for (std::size_t i = 0; i + 1 < 2000; i += 2)
        for (std::size_t k = 0; k < 3; ++k)
            bodies.sources[3 * (i + 1) + k] =
                bodies.sources[3 * i + k] + 1e-6 * (1.0 + static_cast<double>(k));
    const auto exact = bodies.exact(at);
    EXPECT_LT(relative_error(bodies.sum_with(options_of(at, DeviceKind::cuda)).field, exact.field), 2e-6);
}

TEST(TreecodeOnGpu, ReachesTolerances) {
    NEEDS_GPU();
    for (const auto kind : {Cloud::clustered, Cloud::plummer}) {
        const TreeCase at{.kind = kind, .n = 20000};
        const Bodies bodies(at);
        const auto exact = bodies.exact(at);
        for (const double tolerance : {1e-2, 1e-3, 1e-6}) {
            auto options = options_of(at, DeviceKind::cuda);
            options.order = options.leaf = 0;
            options.theta = 0.0;
            options.tolerance = tolerance;
            const auto got = bodies.sum_with(options);
            EXPECT_EQ(got.report.errors.size(), 2U);
            EXPECT_LE(relative_error(got.field, exact.field), tolerance);
            EXPECT_LE(relative_error(got.potential, exact.potential), tolerance);
        }
    }
}

// Leaves larger than a group, as where points lie in one place, and clouds of no, one and a few points.
TEST(TreecodeOnGpu, FewPointsAndLargeLeaves) {
    NEEDS_GPU();
    for (const int n : {0, 1, 2, 3, 33, 65, 200}) {
        const TreeCase at{.n = n, .softening = 0.1};
        const Bodies bodies(at);
        auto options = options_of(at, DeviceKind::cuda);
        options.leaf = 1000;
        const auto got = bodies.sum_with(options);
        const auto exact = bodies.exact(at);
        ASSERT_EQ(got.field.size(), exact.field.size());
        if (n < 2) continue;
        EXPECT_LT(relative_error(got.field, exact.field), 1e-13) << n;
        EXPECT_LT(relative_error(got.potential, exact.potential), 1e-13) << n;
    }
    TreeCase at{.n = 3000, .softening = 0.1};
    Bodies bodies(at);
    for (std::size_t i = 300; i < 3 * 500; ++i) bodies.sources[i] = bodies.sources[i % 3]; // 400 at one place
    const auto exact = bodies.exact(at);
    const auto host = bodies.on_host(at, 64);
    const auto got = bodies.sum_with(options_of(at, DeviceKind::cuda));
    EXPECT_LT(relative_error(got.field, exact.field), 1.05 * relative_error(host.field, exact.field) + 1e-13);
}

TEST(TreecodeOnGpu, SkipsOrNamesCoincidentPoints) {
    NEEDS_GPU();
    const TreeCase at{.order = 4, .theta = 0.5};
    Bodies bodies(at);
    std::copy(bodies.sources.begin(), bodies.sources.begin() + 3, bodies.sources.begin() + 600);
    auto options = options_of(at, DeviceKind::cuda);
    EXPECT_THROW((void)bodies.sum_with(options), InvalidArgument);
    options.coincident = Coincident::skip;
    auto direct = options_of(at, DeviceKind::cpu);
    direct.method = Method::direct;
    direct.order = direct.leaf = 0;
    direct.theta = 0.0;
    direct.coincident = Coincident::skip;
    const auto got = bodies.sum_with(options);
    EXPECT_LT(relative_error(got.field, bodies.sum_with(direct).field), 1e-3);
    EXPECT_EQ(got.report.direct.coincident_pairs_skipped, 2);
}

} // namespace
} // namespace farfield
