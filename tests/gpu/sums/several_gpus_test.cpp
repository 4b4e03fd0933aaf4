// Plans on several GPUs, played by the first one, with every exchange and either design: the bits of one GPU.
#include "exact.h"
#include "expect_error.h"
#include "gpu/needs_gpu.h"
#include "gpu/sizes.h"
#include "unit/sums/views.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace farfield {
namespace {

using test::list;
using test::rows;
using test::Values;

template <class Call>
void expect_refused(Call&& call, std::initializer_list<std::string> words) {
    test::expect_contains(test::error_of<InvalidArgument>(call), words);
}

SumOptions options_on(std::vector<int> gpus) {
    return {.softening = 0.01, .device = {.kind = DeviceKind::cuda, .gpus = std::move(gpus)}};
}

TEST(EveryExchange, HasTheBitsOfOne) {
    NEEDS_GPU();
    const auto cloud = gpu_test::plummer(gpu_test::sized(5003, 503), 4, false, true);
    for (const auto precision : {Precision::float32, Precision::float64, Precision::mixed})
        for (const auto variant : {Variant::automatic, Variant::register_tile})
            for (const auto& list_of_gpus : {std::vector<int>{0, 0}, std::vector<int>{0, 0, 0}})
                for (const auto design : {MultiGpu::threads, MultiGpu::single})
                    for (const auto exchange : {Exchange::automatic, Exchange::host, Exchange::mapped,
                                                Exchange::write_combined, Exchange::peer}) {
                        auto one = options_on({0}), several = options_on(list_of_gpus);
                        one.precision = several.precision = precision;
                        one.variant = several.variant = variant;
                        several.multi_gpu = design, several.exchange = exchange;
                        const auto expected = sum(rows(cloud.points), list(cloud.strengths), one);
                        const auto got = sum(rows(cloud.points), list(cloud.strengths), several);
                        EXPECT_EQ(got.field, expected.field) << name_of(precision) << name_of(exchange);
                        EXPECT_EQ(got.potential, expected.potential) << name_of(precision);
                        EXPECT_EQ(got.report.device, several.device);
                    }
}

TEST(EveryExchange, TakesNewPointsStrengthsAndOutputs) {
    NEEDS_GPU();
    const auto first = gpu_test::plummer(3000, 1, false), second = gpu_test::plummer(3000, 2, false);
    SumPlan one(rows(first.points), options_on({0})), several(rows(first.points), options_on({0, 0, 0}));
    const auto expect_the_same = [&](const Values& strengths, bool with_potential) {
        Values a(9000), b(9000), phi_a(3000), phi_b(3000);
        const auto outputs = [&](Values& field, Values& potential) {
            SumOutputs views{.potential = {}, .field = matrix_view(std::span<double>(field), 3)};
            if (with_potential) views.potential = std::span<double>(potential);
            return views;
        };
        one.execute(list(strengths), outputs(a, phi_a));
        several.execute(list(strengths), outputs(b, phi_b));
        EXPECT_EQ(a, b);
        EXPECT_EQ(phi_a, phi_b);
        return a;
    };
    const auto before = expect_the_same(first.strengths, true);
    EXPECT_NE(expect_the_same(second.strengths, true), before);
    expect_the_same(second.strengths, false);
    one.update(rows(second.points));
    several.update(rows(second.points));
    expect_the_same(second.strengths, false);
}

// Nothing is exchanged; the sources are cut alike whatever share of the targets a GPU has.
TEST(SharedTargets, HaveTheBitsOfOneGpu) {
    NEEDS_GPU();
    const auto cloud = gpu_test::plummer(gpu_test::sized(5003, 503), 4, false, true);
    for (const std::size_t m : gpu_test::sizes_up_to(901, {1, 2, 301, 9001}))
        for (const auto precision : {Precision::float32, Precision::float64, Precision::mixed})
            for (const auto& list_of_gpus : {std::vector<int>{0, 0}, std::vector<int>{0, 0, 0}}) {
                // the last target is far off: a GPU alone would choose another frame without it
                auto targets = gpu_test::plummer(m, 5, false).points;
                targets.back() += 3000.0;
                auto one = options_on({0}), several = options_on(list_of_gpus);
                one.precision = several.precision = precision;
                const auto expected = sum(rows(cloud.points), rows(targets), list(cloud.strengths), one);
                const auto got = sum(rows(cloud.points), rows(targets), list(cloud.strengths), several);
                EXPECT_EQ(got.field, expected.field) << name_of(precision) << ' ' << m;
                EXPECT_EQ(got.potential, expected.potential) << name_of(precision) << ' ' << m;
                EXPECT_EQ(got.report.device, several.device);
                EXPECT_EQ(got.report.direct.variant, Variant::register_tile);
            }
}

TEST(SharedTargets, NameTheRowsOfAllTargets) {
    NEEDS_GPU();
    const auto cloud = gpu_test::plummer(300, 4, false);
    auto targets = gpu_test::plummer(100, 5, false).points;
    auto options = options_on({0, 0, 0});
    options.softening = 0.0;
    std::copy_n(cloud.points.begin() + 3 * 17, 3, targets.begin() + 3 * 90);
    expect_refused([&] { (void)sum(rows(cloud.points), rows(targets), list(cloud.strengths), options); },
                   {"90", "17"});
    options.coincident = Coincident::skip;
    const auto got = sum(rows(cloud.points), rows(targets), list(cloud.strengths), options);
    EXPECT_EQ(got.report.direct.coincident_pairs_skipped, 1);
    auto alone = options;
    alone.device.gpus = {0};
    EXPECT_EQ(got.field, sum(rows(cloud.points), rows(targets), list(cloud.strengths), alone).field);
    targets[3 * 95 + 1] = std::numeric_limits<double>::quiet_NaN();
    expect_refused([&] { (void)sum(rows(cloud.points), rows(targets), list(cloud.strengths), options); },
                   {"targets", "95"});
    options.variant = Variant::symmetric;
    expect_refused([&] { (void)sum(rows(cloud.points), rows(targets), list(cloud.strengths), options); },
                   {"register-tile"});
}

} // namespace
} // namespace farfield
