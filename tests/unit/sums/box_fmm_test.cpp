// Sums over cubes by one tree, of points that move: what tests/oracle/lattice/box_tree_test.cpp sums once.
#include "sums/fmm/box_fmm.h"

#include "sums/costs/cost_table.h"
#include "sums/fmm/gpu_shape.h"
#include "sums/fmm/shape.h"
#include "sums/kernels/kernel.h"

#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <span>
#include <vector>

namespace farfield {
namespace {

constexpr std::size_t point_count = 600;
constexpr double side = 1.75;

SumProblem problem_of_cube() {
    SumProblem problem;
    problem.kernel = &kernel_info(Kernel::coulomb);
    problem.sources = problem.targets = point_count;
    problem.period = {side, side, side};
    problem.coincident = Coincident::skip;
    return problem;
}

SumOptions options_of_cube(Method method) {
    SumOptions options{.kernel = Kernel::coulomb, .method = method, .period = {side, side, side}};
    options.coincident = Coincident::skip;
    options.precision = Precision::float64;
    options.threads = 2;
    return options;
}

double relative(const std::vector<double>& got, const std::vector<double>& exact) {
    double off = 0.0, all = 0.0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
        off += (got[i] - exact[i]) * (got[i] - exact[i]);
        all += exact[i] * exact[i];
    }
    return std::sqrt(off / all);
}

// Where two meet on the way, sums over open space take over, until they part.
TEST(BoxFmm, GoesOnWithPointsThatMove) {
    std::mt19937 engine(14);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    std::vector<double> points(3 * point_count), strengths(point_count);
    for (auto& x : points) x = side * uniform(engine);
    for (std::size_t i = 0; i < point_count; ++i) strengths[i] = i % 2 == 0 ? 1.0 : -1.0;
    auto options = options_of_cube(Method::fmm);
    options.order = 18;
    BoxFmm tree(problem_of_cube(), options);
    const auto expect_sums = [&](bool by_tree) {
        tree.set_points({points.begin(), points.end()}, {});
        for (const double factor : {1.0, 3.0}) {
            auto q = strengths;
            for (auto& value : q) value *= factor;
            std::vector<double> potential(point_count), field(3 * point_count);
            SumReport report;
            tree.compute(q, {}, {.potential = potential.data(), .field = field.data()}, report, {});
            auto exact = options_of_cube(Method::ewald);
            exact.tolerance = 1e-10;
            const auto result = sum(matrix_view(std::span<const double>(points), 3),
                                    ConstArrayView(std::span<const double>(q)), exact);
            EXPECT_LT(relative(potential, result.potential), 1e-6);
            EXPECT_LT(relative(field, result.field), 1e-6);
            EXPECT_EQ(report.passes.back().name == "other terms", by_tree);
        }
    };
    expect_sums(true);
    const auto before = points;
    for (std::size_t k = 0; k < 3; ++k) points[30 + k] = points[60 + k];
    expect_sums(false);
    points = before;
    for (auto& x : points) x += 0.4;
    expect_sums(true);
}

TEST(BoxFmm, HasAPeriodicTreeOnGpus) {
    auto problem = problem_of_cube();
    const auto options = options_of_cube(Method::fmm);
    for (const double tolerance : {1e-3, 1e-8})
        for (const double softening : {0.0, 0.01}) {
            problem.tolerance = tolerance;
            problem.softening = softening;
            auto open = problem;
            open.period = {};
            const auto shape = gpu_fmm_shape(problem, options, shipped_cost_table());
            const auto in_space = gpu_fmm_shape(open, options, shipped_cost_table());
            const bool hard = softening == 0.0;
            EXPECT_EQ(shape.tree.period, problem.period[0]);
            EXPECT_TRUE(shape.grid.periodic);
            EXPECT_EQ(shape.order.order, in_space.order.order + (hard && tolerance == 1e-3 ? 1 : 0));
            EXPECT_GE(shape.grid.across(), 3.0);
            EXPECT_LE(shape.grid.coarse, hard ? 3 : 1);
        }
}

// The larger the softening, the more of far images polynomials carry.
TEST(BoxFmm, SoftensFarImagesByPolynomials) {
    auto problem = problem_of_cube();
    const ImageShape shape{.separation = 1, .order = 8, .goal = 2e-4};
    const auto softened = [&](double softening) {
        problem.softening = softening * side;
        return far_softening(problem, shape);
    };
    EXPECT_EQ(softened(0.0), FarSoftening::none);
    EXPECT_EQ(softened(0.01), FarSoftening::none);
    EXPECT_EQ(softened(0.02), FarSoftening::beside_harmonics);
    EXPECT_EQ(softened(0.5), FarSoftening::whole);
    EXPECT_GT(soft_tree_costs(problem, shape).functions, 1000.0);
    softened(0.02);
    EXPECT_LT(soft_tree_costs(problem, shape).functions, 200.0);
    problem.background = Background::uniform; // the mean of the potential is 0
    EXPECT_EQ(softened(0.0), FarSoftening::none);
    EXPECT_EQ(softened(1e-6), FarSoftening::beside_harmonics);
    EXPECT_LE(soft_tree_costs(problem, shape).functions, 4.0);
}

} // namespace
} // namespace farfield
