// The table of methods, and that it is the only place that a method needs: the reference method came in by a
// row and a file of its own.
#include "sums/method/method.h"

#include "sums/costs/cost_table.h"

#include <farfield/error.h>
#include <farfield/options.h>
#include <farfield/run.h>
#include <farfield/simulation.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace farfield {
namespace {

namespace fs = std::filesystem;
using Values = std::vector<double>;

std::string content_of(const fs::path& path) {
    std::ostringstream out;
    out << std::ifstream(path).rdbuf();
    return out.str();
}

std::vector<std::string> files_that_name(const std::string& word) {
    std::vector<std::string> found;
    for (const auto* folder : {"src", "apps", "include", "python/bindings", "python/farfield"})
        for (const auto& entry : fs::recursive_directory_iterator(fs::path(FARFIELD_SOURCE) / folder)) {
            const auto extension = entry.path().extension();
            if (extension != ".h" && extension != ".cpp" && extension != ".cu" && extension != ".cuh" &&
                extension != ".py")
                continue;
            if (content_of(entry.path()).find(word) != std::string::npos)
                found.push_back(fs::relative(entry.path(), FARFIELD_SOURCE).string());
        }
    std::sort(found.begin(), found.end());
    return found;
}

TEST(Methods, StandInTheOrderOfTheEnum) {
    int number = 0;
    for (const auto* method : methods()) {
        EXPECT_EQ(static_cast<int>(method->value), number++);
        EXPECT_EQ(from_name<Method>(method->name), method->value);
        EXPECT_FALSE(method->text.empty());
    }
}

// The door: a row of the table and one file of its own; the enumerator is part of the row.
TEST(Methods, NeedNoOtherEditThanARowAndAFile) {
    EXPECT_EQ(files_that_name("reference_method"),
              (std::vector<std::string>{"src/sums/methods.cpp", "src/sums/reference/method.cpp"}));
    EXPECT_EQ(files_that_name("Method::reference"),
              (std::vector<std::string>{"src/sums/reference/method.cpp"}));
    EXPECT_EQ(files_that_name("\"reference\""), std::vector<std::string>{"src/sums/reference/method.cpp"});
}

// What follows from the row: names for the command line and Python, the key of case files, its documentation.
TEST(Methods, AreKnownEverywhereByTheirRows) {
    const auto names = names_of<Method>();
    EXPECT_NE(std::find(names.begin(), names.end(), "reference"), names.end());
    EXPECT_NE(case_key_table().find("`\"reference\"`"), std::string::npos);
}

// The cost table decides: few points are summed directly, many by expansions, and never without a tolerance.
TEST(Methods, AutomaticTakesWhatEndsFirst) {
    const auto method_of = [](std::size_t n, SumOptions options) {
        std::mt19937 engine(5);
        std::uniform_real_distribution<double> uniform(0.0, 1.0);
        std::vector<double> points(3 * n), strengths(n, 1.0);
        for (auto& x : points) x = uniform(engine);
        options.method = Method::automatic;
        options.device = {.kind = DeviceKind::cpu, .gpus = {}};
        const auto result = sum(matrix_view(std::span<const double>(points), 3),
                                ConstArrayView(std::span<const double>(strengths)), options);
        EXPECT_FALSE(result.report.reason.empty());
        return result.report.method;
    };
    EXPECT_EQ(method_of(1000, {.tolerance = 1e-3}), Method::direct);
    EXPECT_EQ(method_of(40000, {.tolerance = 1e-3}), Method::fmm);
    EXPECT_EQ(method_of(5000, {}), Method::direct);
    EXPECT_EQ(method_of(2000, {.tolerance = 1e-3, .variant = Variant::symmetric}), Method::direct);
    EXPECT_EQ(name_of(Method::automatic), "auto");
}

// Settled options fix what tolerance and cost table decided; the method goes on from there to higher orders.
TEST(Methods, SettleAndSharpenTheirOptions) {
    SumProblem problem;
    problem.kernel = &gravity_kernel();
    problem.sources = problem.targets = 50000;
    problem.tolerance = 1e-6;
    for (const auto* method : methods()) {
        EXPECT_EQ(method->settle != nullptr, method->sharpen != nullptr) << method->name;
        if (method->settle == nullptr) continue;
        SumOptions options{.method = method->value, .tolerance = 1e-6};
        method->settle(problem, options, shipped_cost_table());
        EXPECT_GT(options.order, 0);
        EXPECT_GT(options.leaf, 0);
        auto again = options;
        auto other = shipped_cost_table();
        for (auto& [name, cost] : other.costs) cost *= name.find("fmm") != std::string::npos ? 100.0 : 1.0;
        method->settle(problem, again, other);
        EXPECT_EQ(again.order, options.order);
        EXPECT_EQ(again.leaf, options.leaf);
        int order = options.order;
        for (; method->sharpen(problem, options, 3e-6); order = options.order)
            EXPECT_GT(options.order, order);
        EXPECT_EQ(options.order, method->value == Method::treecode ? 12 : 40) << "the highest";
        SumOptions by_hand{.method = method->value, .order = 7, .leaf = 33};
        method->settle(problem, by_hand, shipped_cost_table());
        EXPECT_EQ(by_hand.order, 7);
        EXPECT_EQ(by_hand.leaf, 33);
    }
}

TEST(Methods, SayWhyTheyDoNotFit) {
    SumProblem problem;
    problem.kernel = &gauss_kernel();
    problem.sources = problem.targets = 10;
    const DeviceChoice cpu{.kind = DeviceKind::cpu, .gpus = {}};
    const DeviceChoice gpu{.kind = DeviceKind::cuda, .gpus = {0}};
    EXPECT_EQ(method_info(Method::direct).why_not(problem, {}, cpu), "");
    EXPECT_EQ(method_info(Method::direct).why_not(problem, {}, gpu), "");
    EXPECT_EQ(method_info(Method::fgt).why_not(problem, {}, gpu), "");
    problem.dimension = 4;
    EXPECT_EQ(method_info(Method::direct).why_not(problem, {}, gpu), "");
    EXPECT_EQ(method_info(Method::fgt).why_not(problem, {}, gpu), "");
    const auto refused = [&](GaussStrategy strategy) {
        return method_info(Method::fgt).why_not(problem, {.strategy = strategy}, gpu);
    };
    EXPECT_EQ(refused(GaussStrategy::pairs), "");
    EXPECT_NE(refused(GaussStrategy::grid).find("not 4"), std::string::npos);
    EXPECT_NE(refused(GaussStrategy::clusters).find("runs on a CPU"), std::string::npos);
    EXPECT_NE(method_info(Method::fmm).why_not(problem, {}, cpu).find("direct"), std::string::npos);
    EXPECT_EQ(method_info(Method::reference).why_not(problem, {}, cpu), "");
    EXPECT_NE(method_info(Method::reference).why_not(problem, {}, gpu).find("CPU only"), std::string::npos);
    problem.dimension = 2;
    for (const auto strategy : {GaussStrategy::clusters, GaussStrategy::boxes}) {
        const auto why = method_info(Method::fgt).why_not(problem, {.strategy = strategy}, gpu);
        EXPECT_NE(why.find("runs on a CPU"), std::string::npos);
        EXPECT_NE(why.find(name_of(strategy)), std::string::npos);
        EXPECT_EQ(method_info(Method::fgt).why_not(problem, {.strategy = strategy}, cpu), "");
    }
    problem.dimension = 3;
    problem.kernel = &gravity_kernel();
    EXPECT_NE(
        method_info(Method::fgt).why_not(problem, {.strategy = GaussStrategy::boxes}, cpu).find("gravity"),
        std::string::npos);
    EXPECT_EQ(method_info(Method::direct).why_not(problem, {}, gpu), "");
    for (const auto* method : methods()) { // open space, a box, and a box that is open along an axis
        problem.period = {};
        const auto open = method->why_not(problem, {}, cpu);
        problem.period = {1.0, 1.0, 1.0};
        const auto box = method->why_not(problem, {}, cpu);
        problem.period = {1.0, 0.0, 1.0};
        const auto slab = method->why_not(problem, {}, cpu);
        if (method->open_axes || method->periodic) {
            EXPECT_EQ(box, "") << method->name;
        } else {
            EXPECT_NE(box.find("period"), std::string::npos) << method->name;
        }
        if (method->open_axes) {
            EXPECT_EQ(slab, "") << method->name;
        } else {
            EXPECT_NE(slab.find("period"), std::string::npos) << method->name;
            EXPECT_NE(slab.find("fmm"), std::string::npos) << method->name;
        }
        if (method->periodic) {
            EXPECT_NE(open.find("period"), std::string::npos) << method->name;
        }
    }
}

TEST(Methods, PredictMoreMemoryForMorePoints) {
    for (const auto* method : methods()) {
        SumProblem problem;
        problem.kernel = &gravity_kernel();
        problem.sources = problem.targets = 1000;
        const double few = method->bytes(problem, {}, {.kind = DeviceKind::cpu, .gpus = {}});
        problem.sources = problem.targets = 2000;
        EXPECT_GT(method->bytes(problem, {}, {.kind = DeviceKind::cpu, .gpus = {}}), few) << method->name;
        EXPECT_GE(few, 8.0 * 8 * 1000) << method->name << ": points, strengths and results at least";
    }
}

TEST(Methods, AgreeOnGravity) {
    std::mt19937 engine(3);
    std::uniform_real_distribution<double> side(-1.0, 1.0);
    Values points(900);
    for (double& x : points) x = side(engine);
    const Values masses(300, 0.5);
    const auto view = matrix_view(std::span<const double>(points), 3);
    const auto direct = sum(view, std::span<const double>(masses), {.softening = 0.01});
    const auto reference =
        sum(view, std::span<const double>(masses), {.method = Method::reference, .softening = 0.01});
    EXPECT_EQ(reference.report.method, Method::reference);
    for (std::size_t i = 0; i < direct.field.size(); ++i)
        EXPECT_NEAR(direct.field[i], reference.field[i], 1e-12 * std::abs(reference.field[i]) + 1e-12);
    for (std::size_t i = 0; i < direct.potential.size(); ++i)
        EXPECT_NEAR(direct.potential[i], reference.potential[i], 1e-13 * std::abs(reference.potential[i]));
}

// Two vectors of strengths side by side give, to the bit, what each gives alone; complex ones too.
TEST(Methods, SumSeveralVectorsOfStrengths) {
    std::mt19937 engine(5);
    std::uniform_real_distribution<double> side(-1.0, 1.0);
    constexpr std::int64_t n = 70;
    Values points(3 * n), strengths(4 * n);
    for (auto* values : {&points, &strengths})
        for (double& value : *values) value = side(engine);
    for (const auto& [kernel, method] :
         {std::pair{Kernel::coulomb, Method::direct}, std::pair{Kernel::laplace2d, Method::reference}}) {
        const int columns = kernel == Kernel::laplace2d ? 2 : 1;
        const int d = kernel == Kernel::laplace2d ? 2 : 3;
        const auto at =
            matrix_view(std::span<const double>(points).first(static_cast<std::size_t>(d * n)), d);
        SumPlan plan(at, {.kernel = kernel, .method = method, .tolerance = 1e-11});
        const auto both = matrix_view(
            std::span<const double>(strengths).first(static_cast<std::size_t>(2 * columns * n)), 2 * columns);
        Values potential(static_cast<std::size_t>(2 * columns * n)),
            field(static_cast<std::size_t>(2 * d * n));
        plan.execute(both, {.potential = matrix_view(std::span<double>(potential), 2 * columns),
                            .field = matrix_view(std::span<double>(field), 2 * d)});
        EXPECT_EQ(plan.report().direct.pairs, 2 * n * (n - 1));
        EXPECT_EQ(plan.report().errors.size(), 2U);
        for (int v = 0; v < 2; ++v) {
            Values one;
            for (std::int64_t i = 0; i < n; ++i)
                for (int c = 0; c < columns; ++c)
                    one.push_back(strengths[static_cast<std::size_t>(2 * columns * i + columns * v + c)]);
            const auto alone = sum(at, matrix_view(std::span<const double>(one), columns),
                                   {.kernel = kernel, .method = method});
            for (std::int64_t i = 0; i < n; ++i) {
                for (int c = 0; c < columns; ++c)
                    EXPECT_EQ(potential[static_cast<std::size_t>(2 * columns * i + columns * v + c)],
                              alone.potential[static_cast<std::size_t>(columns * i + c)]);
                for (int k = 0; k < d; ++k)
                    EXPECT_EQ(field[static_cast<std::size_t>(2 * d * i + d * v + k)],
                              alone.field[static_cast<std::size_t>(d * i + k)]);
            }
        }
    }
}

TEST(Methods, RunASimulation) {
    Bodies bodies;
    bodies.position = {1, 0, 0, -1, 0, 0};
    bodies.velocity = {0, 0.5, 0, 0, -0.5, 0};
    bodies.mass = {1, 1};
    const TimeOptions time{.step = 0.01, .end = 1.0};
    Simulation by_direct(bodies, {}, time);
    Simulation by_reference(bodies, {.method = Method::reference}, time);
    by_direct.advance_to(1.0);
    by_reference.advance_to(1.0);
    for (std::size_t k = 0; k < 6; ++k)
        EXPECT_NEAR(by_direct.bodies().position[k], by_reference.bodies().position[k], 1e-13);
    EXPECT_THROW(Simulation(bodies, {.method = Method::reference},
                            {.integrator = Integrator::hermite4, .step = 0.01, .end = 1.0}),
                 InvalidArgument);
    EXPECT_THROW(Simulation(bodies, {.kernel = Kernel::gauss}, time), InvalidArgument);
}

// The tree code says what to take where it cannot help.
TEST(Methods, TheTreecodeRefusesWithARemedy) {
    const auto& method = method_info(Method::treecode);
    SumProblem problem;
    problem.kernel = &kernel_info(Kernel::gravity);
    problem.sources = problem.targets = 1000;
    const DeviceChoice cpu{.kind = DeviceKind::cpu, .gpus = {}}, gpu{.kind = DeviceKind::cuda, .gpus = {0}};
    const auto why = [&](const SumOptions& options, const DeviceChoice& device) {
        return method.why_not(problem, options, device);
    };
    EXPECT_EQ(why({}, cpu), "");
    EXPECT_EQ(why({}, gpu), "");
    EXPECT_NE(why({}, {.kind = DeviceKind::cuda, .gpus = {0, 1}}).find("cuda:0"), std::string::npos);
    EXPECT_NE(why({.order = 13}, gpu).find("12"), std::string::npos);
    EXPECT_NE(why({.order = 13}, cpu).find("12"), std::string::npos);
    EXPECT_NE(why({.outputs = Output::hessian}, cpu).find("fmm"), std::string::npos);
    EXPECT_NE(why({.dipoles = true}, cpu).find("fmm"), std::string::npos);
    EXPECT_NE(why({.guaranteed = true}, cpu).find("fmm"), std::string::npos);
    EXPECT_NE(why({.variant = Variant::naive}, cpu).find("direct"), std::string::npos);
    problem.period = {1.0, 1.0, 1.0};
    EXPECT_NE(why({}, cpu), "");
    problem.period = {};
    problem.kernel = &kernel_info(Kernel::gauss);
    EXPECT_NE(why({}, cpu).find("direct"), std::string::npos);
    // a simulation settles an order, and raises it where the tolerance is missed
    problem.kernel = &kernel_info(Kernel::gravity);
    problem.tolerance = 1e-4;
    SumOptions options{.tolerance = 1e-4};
    method.settle(problem, options, CostTable{});
    EXPECT_GT(options.order, 0);
    EXPECT_GT(options.leaf, 0);
    for (int order = options.order; method.sharpen(problem, options, 3e-4); order = options.order)
        EXPECT_GT(options.order, order);
    EXPECT_EQ(options.order, 12) << "the highest";
}

} // namespace
} // namespace farfield
