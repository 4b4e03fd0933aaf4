// Accuracy of the direct sum against the long-double oracle: relative L2 error of the field.
//
// Where the bars come from. double, 1e-14: 45 times the rounding unit; blocked sums reach about 3e-16.
// float, 5e-7, against inputs rounded to float: an operation rounds by 6e-8 at most, a pair has about ten
// of them, and sums of 256 terms add their own; about 1e-7 is reached. A single long float sum fails it (2e-6
// at N = 16,384), and so does leaving out the correction of the estimate of 1/r (1e-4). mixed, 3e-7, against
// inputs that were not rounded: rounding them costs 1e-6 and more, so the low parts must be at work.
#include "effort.h"
#include "oracle/direct/oracle.h"

#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <iostream>
#include <string>
#include <vector>

namespace farfield {
namespace {

constexpr std::uint64_t seed = 20261120;

struct Model {
    std::string name;
    oracle::Points points;
    double softening;
};

Model make_model(const std::string& name, std::int64_t n) {
    if (name == "plummer") return {name, oracle::plummer(n, seed), 0.01};
    return {name, oracle::uniform_cube(n, seed), 0.0};
}

double bar(Precision precision) {
    switch (precision) {
    case Precision::float64:
        return 1e-14;
    case Precision::float32:
        return 5e-7;
    case Precision::mixed:
        return 3e-7;
    case Precision::automatic:
        break;
    }
    return 0.0;
}

constexpr OutputSet field_only = Output::field;

constexpr Precision precisions[] = {Precision::float64, Precision::float32, Precision::mixed};

ConstArrayView points_view(const oracle::Points& points) {
    return matrix_view(std::span<const double>(points.xyz), 3);
}
ConstArrayView strengths_view(const oracle::Points& points) { return {std::span<const double>(points.q)}; }

std::string describe(Isa isa, Precision precision, Variant variant) {
    std::string text;
    for (auto name : {name_of(isa), name_of(precision), name_of(variant)}) text.append(name).append(" ");
    return text;
}

class DirectAccuracy : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override { RecordProperty("seed", static_cast<int>(seed)); }
};

// Every instruction set of this machine, both vector variants, all targets.
TEST_P(DirectAccuracy, AllTargets) {
    const auto model = make_model(GetParam(), test::shorter() ? 8192 : 16384);
    const auto rounded = oracle::rounded_to_float(model.points);
    const long double softening = model.softening;
    const auto exact = oracle::direct_self(model.points, softening, -1.0L);
    const auto exact_rounded = oracle::direct_self(rounded, softening, -1.0L);
    for (auto isa : {Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512}) {
        if (!is_available(isa)) {
            std::cout << "left out: this machine has no " << name_of(isa) << "\n";
            continue;
        }
        for (auto precision : precisions)
            for (auto variant : {Variant::simd, Variant::symmetric}) {
                if (isa == Isa::scalar && variant == Variant::symmetric)
                    continue; // slow; variants_test has it
                const auto result = sum(
                    points_view(model.points), strengths_view(model.points),
                    {.softening = model.softening, .precision = precision, .isa = isa, .variant = variant});
                const auto& truth = precision == Precision::float32 ? exact_rounded : exact;
                const auto what = describe(isa, precision, variant);
                EXPECT_LE(oracle::relative_l2(result.field, truth.field), bar(precision)) << what;
                EXPECT_LE(oracle::relative_l2(result.potential, truth.potential), bar(precision)) << what;
                EXPECT_EQ(result.report.isa, isa);
                EXPECT_EQ(result.report.direct.variant, variant);
            }
    }
}

std::vector<std::int64_t> sampled_rows(std::int64_t n, std::int64_t m) {
    std::vector<std::int64_t> which;
    for (std::int64_t k = 0; k < m; ++k) which.push_back(k * n / m + k % (n / m));
    return which;
}

// 2,000 sampled points as separate targets of all others.
void expect_sampled_field(const Model& model, const oracle::Points& points, std::vector<Precision> used,
                          bool also_mutual) {
    const auto which = sampled_rows(points.size(), 2000);
    const auto sources = oracle::without_rows(points, which);
    const auto targets = oracle::rows(points, which);
    const auto exact = oracle::direct(sources, targets.xyz, model.softening, -1.0L);
    for (auto precision : used) {
        const auto result = sum(points_view(sources), points_view(targets), strengths_view(sources),
                                {.softening = model.softening, .precision = precision}, field_only);
        EXPECT_LE(oracle::relative_l2(result.field, exact.field), bar(precision)) << name_of(precision);
    }
    if (!also_mutual) return;
    // All points on each other: the same plus what the sampled points do among themselves.
    const auto among = oracle::direct_self(targets, model.softening, -1.0L);
    const auto all = sum(points_view(points), strengths_view(points),
                         {.softening = model.softening, .precision = used.front()}, field_only);
    EXPECT_EQ(all.report.direct.variant, Variant::symmetric);
    std::vector<double> field;
    auto truth = among.field;
    for (std::size_t r = 0; r < which.size(); ++r)
        for (std::size_t k = 0; k < 3; ++k) {
            field.push_back(all.field[static_cast<std::size_t>(3 * which[r]) + k]);
            truth[3 * r + k] += exact.field[3 * r + k];
        }
    EXPECT_LE(oracle::relative_l2(field, truth), bar(used.front())) << name_of(used.front());
}

TEST_P(DirectAccuracy, FloatOnSampledTargets) {
    const auto model = make_model(GetParam(), test::shorter() ? 65536 : 262144);
    const bool fast = best_isa() == Isa::avx512 || best_isa() == Isa::avx2;
    expect_sampled_field(model, oracle::rounded_to_float(model.points), {Precision::float32},
                         fast && model.name == "plummer");
}

TEST_P(DirectAccuracy, DoubleAndMixedOnSampledTargets) {
    const auto model = make_model(GetParam(), test::shorter() ? 65536 : 262144);
    expect_sampled_field(model, model.points, {Precision::float64, Precision::mixed}, false);
}

INSTANTIATE_TEST_SUITE_P(Models, DirectAccuracy, testing::Values("plummer", "random"),
                         [](const auto& instance) { return std::string(instance.param); });

} // namespace
} // namespace farfield
