// Plans on several GPUs, played by the first one, with every exchange and either design: the bits of one GPU.
#include "exact.h"
#include "gpu/needs_gpu.h"
#include "gpu/sizes.h"
#include "unit/sums/views.h"

#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace farfield {
namespace {

using test::list;
using test::rows;
using test::Values;

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

} // namespace
} // namespace farfield
