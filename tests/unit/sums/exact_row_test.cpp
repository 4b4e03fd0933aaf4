// The exact sums that verification makes in vectors, against the kernels' formulas in long double: every
// instruction set, in doubles and in pairs of doubles, and which of the two a tolerance gets.
#include "backend/simd/isa.h"
#include "sums/select/exact_row.h"
#include "sums/select/sampled_rows.h"

#include <farfield/error.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace farfield {
namespace {

using Values = std::vector<double>;

struct Points {
    Values at, strengths;
    int dimension, columns;
    std::int64_t n;

    Points(const KernelInfo& kernel, std::int64_t count, double unit = 1.0, int axes = 0)
        : dimension(axes > 0                ? axes
                    : kernel.moves_bodies() ? 3
                                            : 2),
          columns(kernel.strength.columns), n(count) {
        std::mt19937 engine(21);
        std::uniform_real_distribution<double> side(0.0, 1.0);
        for (std::int64_t k = 0; k < n * dimension; ++k) at.push_back(unit * side(engine));
        for (std::int64_t k = 0; k < n * columns; ++k) strengths.push_back(side(engine) - 0.5);
        if (n > 8) std::copy_n(at.begin(), dimension, at.begin() + 5L * dimension); // row 5 on row 0
    }
    [[nodiscard]] ExactTask task(std::int64_t row, double softening, double sigma,
                                 bool without_own = false) const {
        return {.dimension = dimension,
                .columns = columns,
                .sources = n,
                .points = at.data(),
                .strengths = strengths.data(),
                .target = at.data() + std::max<std::int64_t>(row, 0) * dimension,
                .own = row,
                .without_own = without_own,
                .softening = softening,
                .sigma = sigma};
    }
};

struct Case {
    const KernelInfo* kernel;
    double softening, sigma, unit;
    int axes = 0; ///< 0: those of the kernel
    bool without_own = false;
};

std::vector<Case> cases() {
    std::vector<Case> out;
    for (const double unit : {1.0, 1e90, 1e-150}) { // at 1e-150 squares leave the range of the loops
        out.push_back({&coulomb_kernel(), 0.0, 0.0, unit});
        out.push_back({&gravity_kernel(), 0.05 * unit, 0.0, unit});
        out.push_back({&laplace2d_kernel(), 0.0, 0.0, unit});
        out.push_back({&vortex2d_kernel(), 0.0, 0.0, unit});
        out.push_back({&vortex2d_kernel(), 0.0, 0.03 * unit, unit});
        for (int axes = 1; axes <= most_dimensions; ++axes)
            out.push_back({&gauss_kernel(), 0.0, 0.4 * unit, unit, axes, axes % 2 == 0});
    }
    return out;
}

// The sum of the magnitudes of all terms of a number.
double size_of(const Case& of, const ExactTask& task, std::size_t number) {
    double size = 0.0;
    for (std::int64_t j = 0; j < task.sources; ++j) {
        if (j == task.own && (of.without_own || !of.kernel->acts_on_itself)) continue;
        auto one = task;
        one.sources = 1;
        one.own = -1;
        one.points += j * task.dimension;
        one.strengths += j * task.columns;
        long double values[1 + most_dimensions] = {};
        (void)of.kernel->exact_long(one, values);
        size += std::abs(static_cast<double>(values[number]));
    }
    return size;
}

// In doubles a term is rounded some ten times, a field's before its parts cancel (hence the whole field), and
// a sum of 64 vectors 64 times; the exponents of Gaussians are up to 19, and so are roundings of theirs. In
// pairs what is seen are the rounding of the result, that of the factor 1/2π of vortices, and, of the sums in
// long double, a rounding a term.
double bound(const Case& of, const ExactTask& task, std::size_t number, bool in_pairs, double exact) {
    const auto columns = static_cast<std::size_t>(task.columns);
    const auto fields = static_cast<std::size_t>(task.dimension);
    double size = 0.0;
    if (number < columns)
        size = size_of(of, task, number);
    else
        for (std::size_t k = 0; k < fields; ++k) size += size_of(of, task, columns + k);
    if (!in_pairs) return 80.0 * 0x1p-53 * size;
    const double factor = of.kernel->value == Kernel::vortex2d ? 0x1p-54 : 0.0;
    return 2.0 * 0x1p-53 * std::abs(exact) + (factor + 0x1p-60) * size;
}

void expect_exact(const Case& of, std::int64_t n, Isa isa, bool in_pairs) {
    const Points points(*of.kernel, n, of.unit, of.axes);
    for (const std::int64_t row : {std::int64_t{0}, n / 2, n - 1, std::int64_t{-1}}) {
        const auto task = points.task(row, of.softening, of.sigma, of.without_own);
        long double exact[1 + most_dimensions] = {};
        (void)of.kernel->exact_long(task, exact);
        const std::vector<ExactTask> twice{task, task};
        const auto rows =
            exact_rows({.kernel = of.kernel, .targets = twice, .in_pairs = in_pairs, .isa = isa});
        EXPECT_EQ(rows[0], rows[1]);
        const auto numbers = static_cast<std::size_t>(points.columns + points.dimension);
        for (std::size_t k = 0; k < numbers; ++k)
            EXPECT_NEAR(rows[1][k], static_cast<double>(exact[k]),
                        bound(of, task, k, in_pairs, static_cast<double>(exact[k])))
                << of.kernel->name << " sigma " << of.sigma << " unit " << of.unit << " n " << n << " row "
                << row << " number " << k << (in_pairs ? " in pairs" : "");
    }
}

TEST(ExactRows, AreThoseOfTheKernelsFormula) {
    for (const auto isa : {Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512}) {
        try {
            (void)resolve_isa(isa);
        } catch (const BackendUnavailable&) {
            continue;
        }
        for (const auto& of : cases())
            for (const std::int64_t n : {1, 7, 9, 511, 1300})
                for (const bool in_pairs : {false, true}) expect_exact(of, n, isa, in_pairs);
    }
}

// Far pairs add nothing, and nothing that is no number: a row that has one is left to the plain sum, which
// takes fifty times as long.
TEST(ExactRows, OfNarrowGaussiansAreFinite) {
    for (const auto isa : {Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512}) {
        if (!is_available(isa)) continue;
        for (double x = 37.0; x < 60.0;
             x += 0.0625) { // exponents about those where a double ends, and beyond
            const Values points{x, 0.0}, strengths{1.0}, target{0.0, 0.0};
            const std::vector<ExactTask> tasks{{.dimension = 2,
                                                .sources = 1,
                                                .points = points.data(),
                                                .strengths = strengths.data(),
                                                .target = target.data(),
                                                .sigma = 1.0}};
            for (const bool in_pairs : {false, true}) {
                SCOPED_TRACE(std::string(name_of(isa)) + ", " + std::to_string(x));
                const auto row =
                    exact_rows(
                        {.kernel = &gauss_kernel(), .targets = tasks, .in_pairs = in_pairs, .isa = isa})
                        .front();
                const auto exact = std::exp(-0.5 * x * x);
                EXPECT_NEAR(row[0], exact, 1e-307);
                EXPECT_NEAR(row[1], x * exact, 1e-305);
                EXPECT_EQ(row[2], 0.0);
            }
        }
    }
}

TEST(ExactRows, LeaveOutThePotential) {
    for (const auto* kernel : {&laplace2d_kernel(), &vortex2d_kernel()}) {
        const Points points(*kernel, 100);
        const std::vector<ExactTask> tasks{points.task(3, 0.0, 0.0)};
        auto rows = exact_rows({.kernel = kernel, .targets = tasks, .in_pairs = true});
        const auto fields =
            exact_rows({.kernel = kernel, .targets = tasks, .with_potential = false, .in_pairs = true});
        std::fill_n(rows[0].begin(), kernel->strength.columns, 0.0);
        EXPECT_EQ(rows, fields);
    }
}

constexpr std::int64_t sampled = 128;

ExactRows sampled_rows(const Points& points, bool in_pairs) {
    std::vector<ExactTask> tasks;
    for (std::int64_t row = 0; row < sampled; ++row) tasks.push_back(points.task(100 * row, 0.0, 0.0));
    const auto values = exact_rows({.kernel = &laplace2d_kernel(), .targets = tasks, .in_pairs = in_pairs});
    ExactRows rows;
    for (std::int64_t row = 0; row < sampled; ++row) rows[100 * row] = values[static_cast<std::size_t>(row)];
    return rows;
}

// What verification computes for a tolerance. @param size  of the potentials of all targets
ExactRows rows_for(const Points& points, double tolerance, double size) {
    SumProblem problem;
    problem.kernel = &laplace2d_kernel();
    problem.dimension = 2;
    problem.sources = problem.targets = points.n;
    problem.tolerance = tolerance;
    ExactRows rows;
    for (std::int64_t row = 0; row < sampled; ++row) rows[100 * row];
    const std::vector<ComparedOutput> compared{{Output::potential, 0, 2, size}};
    compute_exact_rows({&problem, points.at, {}, points.strengths, 2}, compared, rows);
    return rows;
}

// Doubles down to 1e-10; below, as long as they are good enough.
TEST(ExactRows, HaveTheDigitsThatAToleranceAsksFor) {
    const Points points(laplace2d_kernel(), 20000); // more than few pairs
    const auto in_doubles = sampled_rows(points, false);
    const auto in_pairs = sampled_rows(points, true);
    EXPECT_FALSE(in_doubles == in_pairs);
    EXPECT_TRUE(rows_for(points, 1e-3, 40.0) == in_doubles);
    EXPECT_TRUE(rows_for(points, 1e-12, 40.0) == in_doubles);
    EXPECT_TRUE(rows_for(points, 1e-16, 40.0) == in_pairs);
}

// Each charge has its opposite beside it, but for those that are looked at, which have none: sums are far
// below their terms, and doubles lack digits.
TEST(ExactRows, HaveMoreDigitsThanDoublesWhereTermsCancel) {
    Points points(laplace2d_kernel(), 20000);
    for (std::size_t k = 2; k + 1 < points.at.size(); k += 4)
        for (std::size_t axis = 0; axis < 2; ++axis) {
            points.at[k + axis] = points.at[k + axis - 2] + 1e-7;
            if (k % 200 == 2) points.strengths[k + axis - 2] = 0.0;
            points.strengths[k + axis] = -points.strengths[k + axis - 2];
        }
    EXPECT_TRUE(rows_for(points, 1e-3, 1e-5) == sampled_rows(points, false));
    EXPECT_TRUE(rows_for(points, 1e-12, 1e-5) == sampled_rows(points, true));
}

} // namespace
} // namespace farfield
