// Sums of Gaussians whose ranks each have points of their own.
#include "counting_transport.h"
#include "on_ranks.h"
#include "sums/kernels/gauss.h"
#include "sums/method/method.h"

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

using test::Division, test::numbers, test::part, test::Range, test::range_of;
using test::Values;

/// A sum of one rank: points with normal coordinates, strengths of any sign.
struct GaussSum {
    SumOptions options;
    int dimension = 3;
    std::int64_t sources = 0, targets = 0; ///< targets: 0: the sources
    std::int64_t vectors = 1;
    double scale_of_sources = 1.0, scale_of_targets = 1.0;
};

struct GaussResult {
    Values potential, gradient;
    SumReport report;
};

Values scaled(Values values, double factor) {
    for (double& value : values) value *= factor;
    return values;
}

GaussResult gauss_sum(const GaussSum& whole, const SumOptions& options, Range sources, Range targets,
                      const SumHooks& hooks = {}) {
    const auto d = whole.dimension;
    const auto points = scaled(numbers(whole.sources * d, 1), whole.scale_of_sources),
               others = scaled(numbers(whole.targets * d, 2), whole.scale_of_targets),
               strengths = numbers(whole.sources * whole.vectors, 3);
    const auto own = matrix_view(part(points, sources.first, sources.second, d), d);
    SumPlan plan =
        whole.targets == 0
            ? SumPlan(own, options)
            : SumPlan(own, matrix_view(part(others, targets.first, targets.second, d), d), options);
    const auto rows = whole.targets == 0 ? sources : targets;
    const auto m = static_cast<std::size_t>((rows.second - rows.first) * whole.vectors);
    GaussResult out{Values(m), Values(m * static_cast<std::size_t>(d)), {}};
    plan.execute(matrix_view(part(strengths, sources.first, sources.second, whole.vectors), whole.vectors),
                 {.potential = matrix_view(std::span(out.potential), whole.vectors),
                  .gradient = matrix_view(std::span(out.gradient), d * whole.vectors)},
                 hooks);
    out.report = plan.report();
    return out;
}

GaussResult gauss_on_ranks(const GaussSum& whole, int ranks, Division division) {
    std::vector<GaussResult> parts(static_cast<std::size_t>(ranks));
    comm::run_ranks(ranks, [&](std::shared_ptr<comm::Transport> transport) {
        const int rank = transport->rank();
        auto options = whole.options;
        options.threads = 1 + rank % 2;
        options.communicator = CommunicatorAccess::of(std::move(transport));
        parts[static_cast<std::size_t>(rank)] =
            gauss_sum(whole, options, range_of(whole.sources, rank, ranks, division),
                      range_of(whole.targets, rank, ranks, division));
    });
    auto joined = parts.front();
    for (std::size_t r = 1; r < parts.size(); ++r) {
        const auto append = [](const Values& from, Values& to) {
            to.insert(to.end(), from.begin(), from.end());
        };
        append(parts[r].potential, joined.potential);
        append(parts[r].gradient, joined.gradient);
    }
    return joined;
}

/// Differences over the largest value.
double difference(const Values& found, const Values& expected) {
    if (found.size() != expected.size()) return HUGE_VAL;
    double most = 0.0, largest = 0.0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const double off = std::abs(found[i] - expected[i]);
        if (!(off < HUGE_VAL)) return HUGE_VAL;
        most = std::max(most, off);
        largest = std::max(largest, std::abs(expected[i]));
    }
    return most > 0.0 ? most / largest : 0.0;
}

/// @param rounding  0: the bits of one rank
void expect_same(const GaussSum& whole, double rounding, GaussStrategy strategy) {
    auto options = whole.options;
    options.threads = 2;
    const auto one = gauss_sum(whole, options, {0, whole.sources}, {0, whole.targets});
    for (const int ranks : test::sized(std::vector{1, 2, 3, 5, 8}, std::vector{3}))
        for (const auto division : {Division::even, Division::all_on_the_last}) {
            const auto found = gauss_on_ranks(whole, ranks, division);
            SCOPED_TRACE(std::to_string(ranks) +
                         (division == Division::even ? " ranks" : " ranks, all on the last"));
            EXPECT_LE(difference(found.potential, one.potential), rounding);
            EXPECT_LE(difference(found.gradient, one.gradient), rounding);
            if (whole.options.method != Method::fgt) continue;
            EXPECT_EQ(one.report.fgt.strategy, strategy);
            EXPECT_EQ(found.report.fgt.strategy, strategy);
            EXPECT_EQ(found.report.fgt.near_pairs, one.report.fgt.near_pairs);
            EXPECT_EQ(found.report.fgt.cells, one.report.fgt.cells);
            EXPECT_EQ(found.report.fgt.grid_numbers, one.report.fgt.grid_numbers);
            ASSERT_EQ(found.report.errors.size(), one.report.errors.size());
            for (std::size_t k = 0; k < one.report.errors.size(); ++k)
                EXPECT_NEAR(found.report.errors[k].relative, one.report.errors[k].relative,
                            1e-3 * one.report.errors[k].relative + 10.0 * rounding + 1e-13);
        }
}

SumOptions gaussian(GaussStrategy strategy, double sigma, double tolerance = 1e-6) {
    return {.kernel = Kernel::gauss,
            .method = Method::fgt,
            .sigma = sigma,
            .tolerance = tolerance,
            .strategy = strategy};
}

TEST(SumOfGaussiansOnRanks, OfPairsHasTheBitsOfOne) {
    for (const auto precision : {Precision::float32, Precision::mixed, Precision::float64}) {
        auto options = gaussian(GaussStrategy::pairs, 0.1, precision == Precision::float32 ? 1e-4 : 1e-6);
        options.precision = precision;
        expect_same({.options = options, .sources = 4000}, 0.0, GaussStrategy::pairs);
    }
    for (const int dimension : {1, 2, 5})
        expect_same({.options = gaussian(GaussStrategy::pairs, 0.2), .dimension = dimension, .sources = 1500},
                    0.0, GaussStrategy::pairs);
    expect_same({.options = gaussian(GaussStrategy::pairs, 0.05), .sources = 2000, .targets = 3000}, 0.0,
                GaussStrategy::pairs);
    expect_same({.options = gaussian(GaussStrategy::pairs, 0.2), .sources = 900, .vectors = 3}, 0.0,
                GaussStrategy::pairs);
    auto without_own = gaussian(GaussStrategy::pairs, 0.1);
    without_own.self_term = SelfTerm::exclude;
    expect_same({.options = without_own, .sources = 2000}, 0.0, GaussStrategy::pairs);
}

// What ranks spread into one number of the grid is added in another order.
TEST(SumOfGaussiansOnRanks, OverAGridAreThoseOfOne) {
    constexpr double rounding = 1e-14;
    for (const int dimension : {1, 2, 3}) {
        const double narrow = dimension == 1 ? 1e-4 : dimension == 2 ? 0.04 : 0.3; // points are dealt out
        for (const double sigma : {narrow, 1.0})
            expect_same(
                {.options = gaussian(GaussStrategy::grid, sigma), .dimension = dimension, .sources = 9000},
                rounding, GaussStrategy::grid);
    }
    expect_same({.options = gaussian(GaussStrategy::grid, 0.4), .sources = 3000, .targets = 7000}, rounding,
                GaussStrategy::grid);
    expect_same({.options = gaussian(GaussStrategy::grid, 0.4), .sources = 2000, .vectors = 3}, rounding,
                GaussStrategy::grid);
    auto of_sum = gaussian(GaussStrategy::grid, 0.4);
    of_sum.relative_to = RelativeTo::sum;
    expect_same({.options = of_sum, .sources = 5000}, rounding, GaussStrategy::grid);
    auto without_own = gaussian(GaussStrategy::grid, 0.4);
    without_own.self_term = SelfTerm::exclude;
    expect_same({.options = without_own, .sources = 5000}, rounding, GaussStrategy::grid);
}

TEST(SumOfGaussiansOnRanks, ByClustersAndBoxesHaveTheBitsOfOne) {
    expect_same({.options = gaussian(GaussStrategy::clusters, 1.0), .dimension = 4, .sources = 2500}, 0.0,
                GaussStrategy::clusters);
    expect_same({.options = gaussian(GaussStrategy::boxes, 0.5), .dimension = 2, .sources = 4000}, 0.0,
                GaussStrategy::boxes);
    auto without_own = gaussian(GaussStrategy::clusters, 1.0);
    without_own.self_term = SelfTerm::exclude;
    expect_same({.options = without_own, .dimension = 4, .sources = 1200}, 0.0, GaussStrategy::clusters);
    without_own.strategy = GaussStrategy::boxes;
    expect_same({.options = without_own, .dimension = 2, .sources = 1200}, 0.0, GaussStrategy::boxes);
    expect_same(
        {.options = gaussian(GaussStrategy::clusters, 1.0), .dimension = 5, .sources = 900, .targets = 700},
        0.0, GaussStrategy::clusters);
    expect_same(
        {.options = gaussian(GaussStrategy::boxes, 0.5), .dimension = 2, .sources = 900, .targets = 700}, 0.0,
        GaussStrategy::boxes);
}

TEST(SumOfGaussiansOnRanks, OfEachPairHasTheBitsOfOne) {
    const SumOptions options{.kernel = Kernel::gauss, .method = Method::direct, .sigma = 0.5};
    expect_same({.options = options, .sources = 1700}, 0.0, {});
    expect_same({.options = options, .dimension = 2, .sources = 700, .targets = 900}, 0.0, {});
    expect_same({.options = options, .sources = 3}, 0.0, {});
}

TEST(SumOfGaussiansOnRanks, OfFewPointsAreThoseOfOne) {
    for (const std::int64_t n : {1, 3, 40})
        expect_same({.options = gaussian(GaussStrategy::pairs, 0.3), .sources = n}, 0.0,
                    GaussStrategy::pairs);
    for (const std::int64_t n : {3, 40})
        expect_same({.options = gaussian(GaussStrategy::grid, 0.4), .sources = n}, 1e-14,
                    GaussStrategy::grid);
}

TEST(SumOfGaussiansOnRanks, InTheWayThatTakesLeastTimeAreThoseOfOne) {
    for (const int dimension : {2, 3, 4}) {
        const GaussSum whole{.options = gaussian(GaussStrategy::automatic, dimension == 4 ? 0.8 : 0.1, 1e-5),
                             .dimension = dimension,
                             .sources = 6000};
        const auto one = gauss_sum(whole, whole.options, {0, whole.sources}, {0, 0});
        const auto found = gauss_on_ranks(whole, 3, Division::even);
        EXPECT_LE(difference(found.potential, one.potential), 2e-5) << dimension;
        EXPECT_LE(difference(found.gradient, one.gradient), 2e-5) << dimension;
        for (const auto& error : found.report.errors) EXPECT_LE(error.relative, 1e-5);
    }
}

TEST(SumOfGaussiansOnRanks, OfPointsThatLieOddlyAreThoseOfOne) {
    for (const auto strategy : {GaussStrategy::pairs, GaussStrategy::grid}) {
        const double rounding = strategy == GaussStrategy::grid ? 1e-14 : 0.0;
        auto options = gaussian(strategy, 0.5);
        GaussSum whole{.options = options, .dimension = 2, .sources = 700, .targets = 500};
        whole.scale_of_targets = 0.01; // all in one cell
        expect_same(whole, rounding, strategy);
        whole.scale_of_sources = 0.01; // and sources too: fewer planes than ranks have parts
        expect_same(whole, rounding, strategy);
        whole.scale_of_targets = 3.0; // beyond the sources
        expect_same(whole, rounding, strategy);
        whole.targets = 0;
        whole.scale_of_sources = 0.0; // at one place, where the gradient is 0 but for rounding
        const auto one = gauss_sum(whole, whole.options, {0, whole.sources}, {0, 0});
        EXPECT_LE(difference(gauss_on_ranks(whole, 3, Division::even).potential, one.potential), rounding);
    }
    expect_same({.options = gaussian(GaussStrategy::grid, 1.2, 1e-3), .dimension = 4, .sources = 9000}, 1e-14,
                GaussStrategy::grid);
}

TEST(SumOfGaussiansOnRanks, KeepTheirPointsApartAfterAnUpdate) {
    for (const auto strategy : {GaussStrategy::pairs, GaussStrategy::grid, GaussStrategy::boxes}) {
        const auto options = gaussian(strategy, 0.1);
        const auto points = numbers(2 * 2000, 1), moved = numbers(2 * 2000, 5), strengths = numbers(2000, 3);
        Values expected(2000), found(2000);
        SumPlan one(matrix_view(std::span<const double>(points), 2), options);
        one.execute(std::span<const double>(strengths), {.potential = std::span(expected)});
        one.update(matrix_view(std::span<const double>(moved), 2));
        Values gradient(4000); // loops that have it, too, have bits of their own
        one.execute(std::span<const double>(strengths),
                    {.potential = std::span(expected), .gradient = matrix_view(std::span(gradient), 2)});
        comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
            const int rank = transport->rank();
            auto own = options;
            own.communicator = CommunicatorAccess::of(std::move(transport));
            const auto [begin, end] = range_of(2000, rank, 3, Division::even);
            const Range later = rank == 0   ? Range{0, end - 300}
                                : rank == 1 ? Range{begin - 300, end}
                                            : Range{begin, end};
            const auto at = [&](Values& out, Range range) {
                return std::span(out).subspan(static_cast<std::size_t>(range.first),
                                              static_cast<std::size_t>(range.second - range.first));
            };
            SumPlan plan(matrix_view(part(points, begin, end, 2), 2), own);
            plan.execute(part(strengths, begin, end, 1), {.potential = at(found, {begin, end})});
            plan.update(matrix_view(part(moved, later.first, later.second, 2), 2));
            SumOutputs outputs{.potential = at(found, later)};
            std::vector<float> field(4 * 2000);
            if (rank == 1) // alone, and in float
                outputs.gradient = matrix_view(
                    std::span(field).first(static_cast<std::size_t>(2 * (later.second - later.first))), 2);
            plan.execute(part(strengths, later.first, later.second, 1), outputs);
        });
        EXPECT_LE(difference(found, expected), strategy == GaussStrategy::grid ? 1e-14 : 0.0);
    }
}

TEST(SumOfGaussiansOnRanks, AreRefinedAsThoseOfOne) {
    const auto points = numbers(3 * 1500, 1), strengths = numbers(1500, 3);
    for (const auto strategy : {GaussStrategy::automatic, GaussStrategy::pairs, GaussStrategy::clusters}) {
        SumProblem problem;
        problem.kernel = &gauss_kernel();
        problem.sources = problem.targets = 1500;
        problem.sigma = 0.5;
        problem.tolerance = 1e-3;
        auto options = gaussian(strategy, problem.sigma, problem.tolerance);
        options.outputs = Output::potential;
        const auto refined = [&](const SumOptions& with, Range rows, Values& out) {
            const auto sum = method_info(Method::fgt).make(problem, with, {.kind = DeviceKind::cpu});
            sum->set_points(matrix_view(part(points, rows.first, rows.second, 3), 3), {});
            int count = 0;
            while (sum->refine(1.0)) ++count;
            SumReport report;
            out.resize(static_cast<std::size_t>(rows.second - rows.first));
            sum->execute(matrix_view(part(strengths, rows.first, rows.second, 1), 1),
                         {.potential = matrix_view(std::span(out), 1)}, {}, report);
            return count;
        };
        Values expected;
        const int count = refined(options, {0, 1500}, expected);
        EXPECT_GT(count, 0);
        comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
            const auto rows = range_of(1500, transport->rank(), 3, Division::even);
            auto own = options;
            own.communicator = CommunicatorAccess::of(std::move(transport));
            Values found;
            EXPECT_EQ(refined(own, rows, found), count);
            const auto wanted = part(expected, rows.first, rows.second, 1);
            EXPECT_LE(difference(found, {wanted.begin(), wanted.end()}), 1e-13) << name_of(strategy);
        });
    }
}

// Where nothing is divided, no sums are sent.
TEST(SumOfGaussiansOnRanks, SendEachOtherTheirSums) {
    auto direct = gaussian(GaussStrategy::automatic, 0.3, 0.0);
    direct.method = Method::direct;
    for (const auto& options :
         {direct, gaussian(GaussStrategy::pairs, 0.1), gaussian(GaussStrategy::grid, 0.1),
          gaussian(GaussStrategy::clusters, 1.0), gaussian(GaussStrategy::boxes, 0.3)}) {
        const auto points = numbers(2 * 3000, 1), strengths = numbers(3000, 3);
        comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
            const auto counting = std::make_shared<test::CountingTransport>(std::move(transport));
            const auto rows = range_of(3000, counting->rank(), 3, Division::even);
            auto own = options;
            own.tolerance = 0.0; // no exact sums, which are divided, too
            own.communicator = CommunicatorAccess::of(counting);
            SumPlan plan(matrix_view(part(points, rows.first, rows.second, 2), 2), own);
            Values out(static_cast<std::size_t>(rows.second - rows.first));
            plan.execute(part(strengths, rows.first, rows.second, 1), {.potential = std::span(out)});
            const auto before = counting->sent();
            plan.execute(part(strengths, rows.first, rows.second, 1), {.potential = std::span(out)});
            // of a third of the strengths and of the sums some stay where they are
            EXPECT_GT(counting->sent() - before, std::size_t{10000}) << name_of(own.strategy);
        });
    }
}

// As for densities, whose sums share their points.
TEST(SumOfGaussiansOnRanks, WhereEachGivesEverythingEachGetsAll) {
    for (const auto strategy : {GaussStrategy::pairs, GaussStrategy::grid, GaussStrategy::boxes})
        for (const std::int64_t targets : {0, 700}) {
            const GaussSum whole{.options = gaussian(strategy, strategy == GaussStrategy::grid ? 0.05 : 0.4),
                                 .dimension = 2,
                                 .sources = 3000,
                                 .targets = targets,
                                 .vectors = 2};
            const auto one = gauss_sum(whole, whole.options, {0, whole.sources}, {0, targets});
            std::vector<GaussResult> found(3);
            comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
                const auto rank = static_cast<std::size_t>(transport->rank());
                auto options = whole.options;
                options.communicator =
                    CommunicatorAccess::with_everything(CommunicatorAccess::of(std::move(transport)));
                found[rank] = gauss_sum(whole, options, {0, whole.sources}, {0, targets});
            });
            EXPECT_LE(difference(found[0].potential, one.potential), 1e-14) << name_of(strategy);
            EXPECT_LE(difference(found[0].gradient, one.gradient), 1e-14) << name_of(strategy);
            for (const auto& other : found) {
                EXPECT_EQ(other.potential, found[0].potential);
                EXPECT_EQ(other.gradient, found[0].gradient);
            }
        }
}

TEST(SumOfGaussiansOnRanks, StopsWhereOneRankIsAsked) {
    for (const auto strategy : {GaussStrategy::pairs, GaussStrategy::grid, GaussStrategy::boxes}) {
        const GaussSum whole{.options = gaussian(strategy, strategy == GaussStrategy::pairs ? 1.0 : 0.4),
                             .sources = 20000};
        const int interrupted = test::interrupted_of_three(
            whole.options, [&](int rank, const SumOptions& options, const SumHooks& hooks) {
                const auto range = range_of(whole.sources, rank, 3, Division::even);
                (void)gauss_sum(whole, options, range, range, hooks);
            });
        EXPECT_EQ(interrupted, 3) << name_of(strategy);
    }
}

} // namespace
} // namespace farfield
