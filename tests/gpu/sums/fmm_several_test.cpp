// Fast multipole sums on several GPUs, played by the first one, and by two where there are two: the bits of
// one GPU.
#include "expect_error.h"
#include "gpu/needs_gpu.h"
#include "gpu/sums/fmm_clouds.h"

#include <farfield/device.h>
#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace farfield {
namespace {

using test::charges;
using test::Cloud;
using test::cloud;
using test::Values;

struct SeveralCase {
    Cloud kind = Cloud::cube;
    int n = 5000, m = 0; ///< m = 0: targets are the sources
    int order = 6;
    double softening = 0.0;
    Precision precision = Precision::mixed;
    int leaf = 20;
    int separation = 1;
    bool whole = false; ///< dipoles and second derivatives, too
};

std::vector<std::vector<int>> lists_of_gpus() {
    std::vector<std::vector<int>> out{{0, 0}, {0, 0, 0}, {0, 0, 0, 0, 0}};
    if (gpus().size() > 1) out.insert(out.end(), {{0, 1}, {1, 0}});
    return out;
}

SumOptions options_of(const SeveralCase& at, std::vector<int> gpus) {
    return {.kernel = Kernel::coulomb,
            .method = Method::fmm,
            .softening = at.softening,
            .order = at.order,
            .separation = at.separation,
            .leaf = at.leaf,
            .precision = at.precision,
            .device = {.kind = DeviceKind::cuda, .gpus = std::move(gpus)}};
}

SumResult sum_of(const SeveralCase& at, const SumOptions& options) {
    const auto sources = cloud(at.kind, at.n, 3), targets = cloud(at.kind, at.m, 4);
    const auto q = charges(at.n, 5);
    const auto p = charges(at.whole ? 3 * at.n : 0, 6);
    const SumStrengths strengths{.charges = test::list(q),
                                 .dipoles = p.empty() ? ConstArrayView{} : test::rows(p)};
    auto outputs = Output::potential | Output::field;
    if (at.whole) outputs |= Output::hessian;
    return targets.empty() ? sum(test::rows(sources), strengths, options, outputs)
                           : sum(test::rows(sources), test::rows(targets), strengths, options, outputs);
}

void expect_bits_of_one(const SeveralCase& at) {
    SCOPED_TRACE("cloud " + std::to_string(static_cast<int>(at.kind)) + ", " + std::to_string(at.n) +
                 " sources, " + std::to_string(at.m) + " targets, order " + std::to_string(at.order) +
                 ", softening " + std::to_string(at.softening));
    const auto one = sum_of(at, options_of(at, {0}));
    for (const auto& gpus : lists_of_gpus())
        for (const auto design : {MultiGpu::threads, MultiGpu::single}) {
            auto options = options_of(at, gpus);
            options.multi_gpu = design;
            const auto got = sum_of(at, options);
            EXPECT_EQ(got.potential, one.potential) << gpus.size() << " GPUs";
            EXPECT_EQ(got.field, one.field) << gpus.size() << " GPUs";
            EXPECT_EQ(got.hessian, one.hessian) << gpus.size() << " GPUs";
            EXPECT_EQ(got.report.device.gpus, gpus);
            EXPECT_EQ(got.report.fmm.cells, one.report.fmm.cells);
            EXPECT_EQ(got.report.fmm.near_pairs, one.report.fmm.near_pairs);
        }
}

TEST(FmmOnSeveralGpus, HasTheBitsOfOne) {
    NEEDS_GPU();
    for (const auto kind :
         {Cloud::cube, Cloud::clustered, Cloud::sphere, Cloud::line, Cloud::apart, Cloud::plummer})
        for (const int m : {0, 900})
            for (const auto precision : {Precision::float32, Precision::mixed, Precision::float64}) {
                expect_bits_of_one({.kind = kind, .m = m, .precision = precision});
                if (HasFailure()) return;
            }
    for (const int order : {3, 12, 24}) {
        expect_bits_of_one({.n = 20000, .order = std::min(order, 20), .leaf = 60});
        expect_bits_of_one(
            {.kind = Cloud::plummer, .n = 20000, .order = order, .precision = Precision::float64});
    }
    expect_bits_of_one({.kind = Cloud::plummer, .order = 8, .separation = 2});
}

TEST(FmmOnSeveralGpus, HasTheBitsOfOneWithDipolesHessiansAndSoftening) {
    NEEDS_GPU();
    for (const auto kind : {Cloud::cube, Cloud::plummer})
        for (const int m : {0, 900})
            for (const double softening : {0.0, 0.02, 30.0}) {
                expect_bits_of_one({.kind = kind, .m = m, .softening = softening});
                expect_bits_of_one({.kind = kind,
                                    .m = m,
                                    .softening = softening,
                                    .precision = Precision::float64,
                                    .whole = true});
                if (HasFailure()) return;
            }
}

// Some GPUs have no target at all.
TEST(FmmOnSeveralGpus, TakesFewPoints) {
    NEEDS_GPU();
    for (const int n : {1, 2, 3, 17})
        for (const int m : {0, 1, 2})
            for (const int leaf : {1, 20}) expect_bits_of_one({.n = n, .m = m, .leaf = leaf});
    const Values none;
    const auto got = sum(test::rows(none), test::list(none), options_of({}, {0, 0}));
    EXPECT_TRUE(got.field.empty());
}

// Leaves with few sources and more targets than act one by one: which way they take does not depend on the
// share.
TEST(FmmOnSeveralGpus, TakesLargeLeavesOfTargets) {
    NEEDS_GPU();
    const SeveralCase at{.n = 30, .precision = Precision::float64};
    auto sources = cloud(Cloud::cube, at.n, 1), targets = cloud(Cloud::cube, 4000, 2);
    for (std::size_t i = 0; i < 2500; ++i) // most lie in one corner
        for (std::size_t k = 0; k < 3; ++k) targets[3 * i + k] *= 1e-3;
    targets.insert(targets.end(), {1.0, 1.0, 1.0});
    const auto q = charges(at.n, 5);
    for (const int leaf : {20, 600, 900, 1500}) {
        auto options = options_of(at, {0});
        options.leaf = leaf;
        const auto one = sum(test::rows(sources), test::rows(targets), test::list(q), options);
        for (const auto& gpus : lists_of_gpus()) {
            options.device.gpus = gpus;
            const auto got = sum(test::rows(sources), test::rows(targets), test::list(q), options);
            EXPECT_EQ(got.field, one.field) << leaf << ' ' << gpus.size();
            EXPECT_EQ(got.potential, one.potential) << leaf << ' ' << gpus.size();
            EXPECT_EQ(got.report.fmm.near_pairs, one.report.fmm.near_pairs) << leaf;
        }
    }
}

// An array without rows is not the same as none.
TEST(FmmOnSeveralGpus, TakesNoTargets) {
    NEEDS_GPU();
    const auto sources = cloud(Cloud::cube, 500, 1);
    const auto q = charges(500, 2);
    Values room(3);
    const ConstArrayView none(room.data(), DType::float64, {0, 3});
    for (const auto& gpus : lists_of_gpus()) {
        SumPlan plan(test::rows(sources), none, options_of({}, gpus));
        SumOutputs outputs;
        outputs.field = ArrayView(room.data(), DType::float64, {0, 3});
        plan.execute(test::list(q), outputs);
        EXPECT_EQ(plan.report().targets, 0);
    }
}

TEST(FmmOnSeveralGpus, FollowsPointsStrengthsAndOutputs) {
    NEEDS_GPU();
    const SeveralCase at{.kind = Cloud::plummer, .n = 4000};
    const auto first = cloud(at.kind, at.n, 1), second = cloud(Cloud::cube, at.n, 2);
    const auto q = charges(at.n, 3), other_q = charges(at.n, 4);
    SumPlan one(test::rows(first), options_of(at, {0}));
    SumPlan several(test::rows(first), options_of(at, {0, 0, 0}));
    const auto field = [&](SumPlan& plan, const Values& strengths, bool with_hessian) {
        const auto rows = static_cast<std::size_t>(at.n);
        Values e(3 * rows), hessian(6 * rows);
        SumOutputs outputs;
        outputs.field = matrix_view(std::span<double>(e), 3);
        if (with_hessian) outputs.hessian = matrix_view(std::span<double>(hessian), 6);
        plan.execute(test::list(strengths), outputs);
        e.insert(e.end(), hessian.begin(), hessian.end());
        return e;
    };
    const auto before = field(several, q, false);
    EXPECT_EQ(before, field(one, q, false));
    EXPECT_NE(field(several, other_q, true), before);
    EXPECT_EQ(field(several, other_q, true), field(one, other_q, true));
    one.update(test::rows(second));
    several.update(test::rows(second));
    EXPECT_EQ(field(several, q, false), field(one, q, false));
    several.update(test::rows(first));
    EXPECT_EQ(field(several, q, false), before);
}

TEST(FmmOnSeveralGpus, ReachesTolerances) {
    NEEDS_GPU();
    for (const double tolerance : {1e-2, 1e-6}) {
        auto options = options_of({.order = 0, .leaf = 0}, {0, 0});
        options.tolerance = tolerance;
        options.precision = Precision::automatic;
        const auto got = sum_of({.kind = Cloud::plummer, .n = 20000}, options);
        ASSERT_EQ(got.report.errors.size(), 2U);
        for (const auto& error : got.report.errors) EXPECT_LE(error.relative, tolerance);
    }
}

TEST(FmmOnSeveralGpus, NamesRowsThatMeet) {
    NEEDS_GPU();
    auto points = cloud(Cloud::cube, 3000, 8);
    std::copy_n(points.begin() + 3 * 17, 3, points.begin() + 3 * 2900);
    const auto q = charges(3000, 9);
    auto options = options_of({}, {0, 0, 0});
    test::expect_contains(
        test::error_of<InvalidArgument>([&] { (void)sum(test::rows(points), test::list(q), options); }),
        {"17", "2900"});
    options.coincident = Coincident::skip;
    const auto got = sum(test::rows(points), test::list(q), options);
    options.device.gpus = {0};
    const auto one = sum(test::rows(points), test::list(q), options);
    EXPECT_EQ(got.field, one.field);
    EXPECT_GT(got.report.direct.coincident_pairs_skipped, 0);
    EXPECT_EQ(got.report.direct.coincident_pairs_skipped, one.report.direct.coincident_pairs_skipped);
}

TEST(FmmOnSeveralGpus, NeedsThemAll) {
    NEEDS_GPU();
    const int beyond = static_cast<int>(gpus().size());
    EXPECT_THROW((void)sum_of({.n = 100}, options_of({}, {0, beyond})), BackendUnavailable);
}

} // namespace
} // namespace farfield
