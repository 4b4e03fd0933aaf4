// Fast Gauss transforms on a GPU against direct sums of the host: the largest error is within the tolerance
// of the largest value, or of what rounding makes of Σ|q| where that is more.
#include "expect_error.h"
#include "gpu/needs_gpu.h"
#include "oracle/gauss/gauss_oracle.h"
#include "sums/kernels/gauss.h"
#include "sums/method/method.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace farfield {
namespace {

using oracle::GaussCase;
using oracle::GaussRandom;
using oracle::Layout;
using oracle::Numbers;

GaussCase gauss_case(std::size_t d, double sigma, Layout layout, std::size_t n, bool is_signed,
                     std::size_t vectors = 1) {
    GaussRandom random(d + 10 * static_cast<std::size_t>(layout));
    GaussCase points{.dimension = d, .vectors = vectors, .sigma = sigma};
    points.sources = random.points(layout, n, d);
    points.strengths = random.strengths(n * vectors, is_signed);
    return points;
}

SumOptions on_gpu(double tolerance, OutputSet outputs = {}, Method method = Method::fgt) {
    SumOptions options{.method = method, .tolerance = tolerance, .outputs = outputs};
    options.device.kind = DeviceKind::cuda;
    return options;
}

SumResult on_cpu(const GaussCase& points) {
    SumOptions options{.method = Method::direct, .precision = Precision::float64};
    options.device.kind = DeviceKind::cpu;
    return points.computed(options);
}

/// The largest difference of rows of `width` numbers.
double largest_difference(const std::vector<double>& a, const std::vector<double>& b, std::size_t width) {
    double worst = 0.0;
    for (std::size_t row = 0; row < a.size() / width; ++row) {
        double square = 0.0;
        for (std::size_t k = width * row; k < width * (row + 1); ++k)
            square += (a[k] - (b.empty() ? 0.0 : b[k])) * (a[k] - (b.empty() ? 0.0 : b[k]));
        worst = std::max(worst, square);
    }
    return std::sqrt(worst);
}

void expect_close(const GaussCase& points, const SumResult& got, const SumResult& exact, double tolerance) {
    double sum = 0.0;
    for (const double q : points.strengths) sum += std::abs(q);
    const double floor = std::numeric_limits<double>::epsilon() * sum;
    const auto d = points.dimension;
    if (!got.potential.empty()) {
        ASSERT_EQ(got.potential.size(), exact.potential.size());
        EXPECT_LE(largest_difference(got.potential, exact.potential, 1),
                  tolerance * largest_difference(exact.potential, {}, 1) + floor);
    }
    if (!got.gradient.empty()) {
        ASSERT_EQ(got.gradient.size(), exact.gradient.size());
        EXPECT_LE(largest_difference(got.gradient, exact.gradient, d),
                  tolerance * largest_difference(exact.gradient, {}, d) + floor / points.sigma);
    }
    EXPECT_EQ(got.report.device.kind, DeviceKind::cuda);
}

TEST(GaussOnGpu, KeepsEveryToleranceWhateverThePoints) {
    NEEDS_GPU();
    for (std::size_t d = 1; d <= 3; ++d)
        for (const double sigma : {1e-4, 1e-2, 0.1, 1.0, 10.0})
            for (const auto layout : oracle::layouts)
                for (const bool is_signed : {false, true}) {
                    SCOPED_TRACE(std::to_string(d) + "-dimensional, " + oracle::name_of_layout(layout) +
                                 (is_signed ? ", signed" : "") + ", sigma " + std::to_string(sigma));
                    const auto points = gauss_case(d, sigma, layout, 1000, is_signed); // all are verified
                    const auto exact = on_cpu(points);
                    for (const double tolerance : {1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12}) {
                        SCOPED_TRACE("tolerance " + std::to_string(std::log10(tolerance)));
                        const auto got =
                            points.computed(on_gpu(tolerance, Output::potential), Output::potential);
                        expect_close(points, got, exact, 1.02 * tolerance);
                    }
                    expect_close(points, points.computed(on_gpu(1e-5)), exact, 1.02e-5);
                    if (HasFailure()) return;
                }
}

TEST(GaussOnGpu, TakesAGridOrPairs) {
    NEEDS_GPU();
    for (std::size_t d = 1; d <= 3; ++d) {
        const auto wide = gauss_case(d, 0.2, Layout::uniform, 50000, false).computed(on_gpu(1e-3));
        EXPECT_GT(wide.report.fgt.width, 0);
        EXPECT_GT(wide.report.fgt.grid_numbers, 10);
        EXPECT_EQ(wide.report.passes.size(), 3U);
    }
    const auto narrow = gauss_case(3, 1e-4, Layout::uniform, 50000, false).computed(on_gpu(1e-3));
    EXPECT_EQ(narrow.report.fgt.width, 0);
    EXPECT_GE(narrow.report.fgt.near_pairs, 50000);
    EXPECT_GT(narrow.report.fgt.cells, 10000);
    EXPECT_LE(narrow.report.fgt.cells, 50000);
    EXPECT_LT(narrow.report.fgt.near_pairs, 50000LL * 5000);
}

// Of many points verification samples 256, of which the worst may be none.
TEST(GaussOnGpu, TakesSparseAndDenseGrids) {
    NEEDS_GPU();
    for (const double sigma : {0.02, 0.04, 0.3})
        for (const bool is_signed : {false, true})
            for (const double tolerance : {1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-9, 1e-11}) {
                SCOPED_TRACE("sigma " + std::to_string(sigma) + ", tolerance " +
                             std::to_string(std::log10(tolerance)));
                auto points = gauss_case(3, sigma, Layout::uniform, 30000, is_signed);
                points.targets = GaussRandom(6).points(Layout::uniform, 3000, 3);
                const auto got = points.computed(on_gpu(tolerance));
                expect_close(points, got, on_cpu(points), 1.5 * tolerance);
            }
}

TEST(GaussOnGpu, SeparateTargetsSeveralVectorsAndLeaveOneOut) {
    NEEDS_GPU();
    for (const double sigma : {0.003, 0.2})
        for (std::size_t d = 1; d <= 3; ++d) {
            SCOPED_TRACE(std::to_string(d) + "-dimensional, sigma " + std::to_string(sigma));
            auto points = gauss_case(d, sigma, Layout::uniform, 6000, false, 3);
            points.without_own = true;
            for (const double tolerance : {1e-4, 1e-9})
                expect_close(points, points.computed(on_gpu(tolerance)), on_cpu(points), 1.5 * tolerance);
            points.without_own = false;
            points.targets = GaussRandom(5).points(Layout::circle, 5000, d);
            for (double& x : points.targets) x = 1.5 * x - 0.25; // some beyond the sources
            const auto exact = on_cpu(points);
            for (const auto output : {Output::potential, Output::gradient})
                expect_close(points, points.computed(on_gpu(1e-9, output), output), exact, 1.5e-9);
        }
}

TEST(GaussOnGpu, HasTheSameBitsEachTime) {
    NEEDS_GPU();
    for (const double sigma : {0.001, 0.05})
        for (std::size_t d = 1; d <= 3; ++d)
            for (const double tolerance : {1e-3, 1e-9}) {
                const auto points = gauss_case(d, sigma, Layout::clustered, 40000, true);
                const auto one = points.computed(on_gpu(tolerance));
                const auto other = points.computed(on_gpu(tolerance));
                EXPECT_EQ(one.potential, other.potential);
                EXPECT_EQ(one.gradient, other.gradient);
            }
}

TEST(GaussOnGpu, FarOffPointsAndUnitsOfAnySize) {
    NEEDS_GPU();
    for (const double scale : {1e-100, 1.0, 1e100})
        for (const double offset : {100.0, 1e9}) {
            auto points = gauss_case(2, 0.05 * scale, Layout::uniform, 8000, false);
            for (double& x : points.sources) x = (x + offset) * scale;
            for (double& q : points.strengths) q *= scale;
            expect_close(points, points.computed(on_gpu(1e-6)), on_cpu(points), 1.5e-6);
        }
}

TEST(GaussOnGpu, TakesFewPoints) {
    NEEDS_GPU();
    for (const std::size_t n : {0U, 1U, 2U, 5U})
        for (std::size_t d = 1; d <= 3; ++d) {
            const auto points = gauss_case(d, 0.3, Layout::uniform, n, true);
            expect_close(points, points.computed(on_gpu(1e-10)), on_cpu(points), 1e-10);
        }
}

TEST(DirectGaussOnGpu, IsThatOfTheHost) {
    NEEDS_GPU();
    for (std::size_t d = 1; d <= 6; ++d)
        for (const std::size_t n : {1U, 300U, 5000U})
            for (const bool apart : {false, true}) {
                SCOPED_TRACE(std::to_string(d) + "-dimensional, " + std::to_string(n));
                auto points = gauss_case(d, 0.3, Layout::clustered, n, true, 2);
                points.without_own = !apart;
                if (apart) points.targets = GaussRandom(5).points(Layout::circle, 777, d);
                const auto exact = on_cpu(points);
                for (const auto& [precision, error] :
                     {std::pair(Precision::float64, 1e-13), std::pair(Precision::mixed, 3e-6),
                      std::pair(Precision::float32, 3e-5)}) {
                    auto options = on_gpu(0.0, {}, Method::direct);
                    options.precision = precision;
                    const auto got = points.computed(options);
                    expect_close(points, got, exact, error);
                    expect_close(points, points.computed(options, Output::potential), exact, error);
                    EXPECT_EQ(got.potential, points.computed(options).potential); // the same bits
                }
            }
}

TEST(DirectGaussOnGpu, IsVerified) {
    NEEDS_GPU();
    for (const double tolerance : {1e-4, 1e-7, 1e-11}) {
        const auto points = gauss_case(4, 0.2, Layout::uniform, 4000, false);
        const auto got = points.computed(on_gpu(tolerance, {}, Method::direct));
        EXPECT_EQ(got.report.errors.size(), 2U);
        for (const auto& error : got.report.errors) EXPECT_LE(error.relative, tolerance);
    }
}

TEST(GaussOnGpu, NamesWhatIsWrong) {
    NEEDS_GPU();
    auto points = gauss_case(3, 0.1, Layout::uniform, 100, true);
    const auto refused = [&](const GaussCase& of) {
        return test::error_of<InvalidArgument>([&] { (void)of.computed(on_gpu(1e-3)); });
    };
    auto bad = points;
    bad.strengths[7] = NAN;
    test::expect_contains(refused(bad), {"row 7"});
    bad = points;
    bad.sources[10] = INFINITY;
    test::expect_contains(refused(bad), {"row 3 has y = inf"});
    bad = points;
    for (double& q : bad.strengths) q = 1.7e308;
    test::expect_contains(refused(bad), {"row", "range of a double"});
    auto options = on_gpu(1e-3);
    options.strategy = GaussStrategy::grid;
    const auto four = gauss_case(4, 0.1, Layout::uniform, 100, true);
    test::expect_contains(test::error_of<InvalidArgument>([&] { (void)four.computed(options); }),
                          {"grid", "3 dimensions", "pairs", "device"});
}

TEST(GaussOnGpu, TakesPairsInFourToSixDimensions) {
    NEEDS_GPU();
    for (std::size_t d = 4; d <= 6; ++d)
        for (const double sigma : {0.01, 0.1, 0.5})
            for (const auto layout : oracle::layouts) {
                SCOPED_TRACE(std::to_string(d) + "-dimensional, " + oracle::name_of_layout(layout) +
                             ", sigma " + std::to_string(sigma));
                auto points = gauss_case(d, sigma, layout, 1000, true);
                for (const double tolerance : {1e-3, 1e-10}) // in float, in double
                    expect_close(points, points.computed(on_gpu(tolerance)), on_cpu(points),
                                 1.02 * tolerance);
                points.targets = GaussRandom(5).points(Layout::uniform, 777, d);
                for (double& x : points.targets) x = 1.5 * x - 0.25; // some beyond the sources
                const auto got = points.computed(on_gpu(1e-6));
                expect_close(points, got, on_cpu(points), 1.5e-6);
                EXPECT_EQ(got.report.fgt.strategy, GaussStrategy::pairs);
                EXPECT_EQ(got.gradient, points.computed(on_gpu(1e-6)).gradient); // the same bits
                if (HasFailure()) return;
            }
    auto narrow = gauss_case(4, 0.003, Layout::uniform, 50000, false);
    narrow.without_own = true;
    const auto got = narrow.computed(on_gpu(1e-6));
    expect_close(narrow, got, on_cpu(narrow), 1.5e-6);
    EXPECT_LT(got.report.fgt.near_pairs, 50000LL * 500);
}

// A refinement that is refused leaves the sum as it was, also where its points are set again.
TEST(GaussOnGpu, GoesOnAfterARefinementThatIsRefused) {
    NEEDS_GPU();
    const auto points = gauss_case(3, 0.2, Layout::uniform, 2000, false);
    const auto exact = on_cpu(points);
    for (const auto strategy : {GaussStrategy::grid, GaussStrategy::pairs}) {
        SumProblem problem;
        problem.kernel = &gauss_kernel();
        problem.sources = problem.targets = 2000;
        problem.sigma = points.sigma;
        problem.tolerance = 1e-3;
        auto options = on_gpu(1e-3);
        options.kernel = Kernel::gauss;
        options.sigma = points.sigma;
        options.strategy = strategy;
        const auto sum =
            method_info(Method::fgt).make(problem, options, {.kind = DeviceKind::cuda, .gpus = {0}});
        const auto view = oracle::rows_of_numbers(points.sources, 3);
        const auto values = [&] {
            Numbers out(2000);
            SumReport report;
            sum->execute(oracle::rows_of_numbers(points.strengths, 1),
                         {.potential = matrix_view(std::span<double>(out), 1)}, {}, report);
            return out;
        };
        sum->set_points(view, {});
        int refined = 0;
        while (sum->refine(1.0)) ASSERT_LT(++refined, 100);
        EXPECT_GT(refined, 0);
        const auto best = values();
        EXPECT_LE(largest_difference(best, exact.potential, 1),
                  1e-11 * largest_difference(exact.potential, {}, 1));
        sum->set_points(view, {});
        EXPECT_EQ(values(), best);
    }
}

} // namespace
} // namespace farfield
