// Sums whose ranks each have points of their own: mistakes, errors, stops, and ranks that have no points or
// want other outputs than others.
#include "on_ranks.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace farfield {
namespace {

using test::Arrays, test::arrays_of, test::common_error, test::compute, test::compute_on_ranks;
using test::Division, test::numbers, test::part, test::Range, test::range_of;
using test::Values, test::Whole;

TEST(SumOnRanks, TellsTheMistakeOfOneRankOnAll) {
    const Values good(12, 0.5);
    auto bad = numbers(12, 5);
    bad[7] = std::numeric_limits<double>::quiet_NaN();
    const auto message = common_error(3, [&](int rank, const Communicator& communicator) {
        const auto own = numbers(12, 10U + static_cast<unsigned>(rank));
        SumPlan plan(matrix_view(std::span<const double>(rank == 1 ? bad : own), 3),
                     {.communicator = communicator});
    });
    test::expect_contains(message, {"sources", "rank 1", "row 2", "nan"});
    const auto shapes = common_error(3, [&](int rank, const Communicator& communicator) {
        SumPlan plan(matrix_view(std::span<const double>(good), rank == 2 ? 2 : 3),
                     {.kernel = Kernel::coulomb, .communicator = communicator});
    });
    test::expect_contains(shapes, {"rank 0", "rank 2", "3", "2"});
    const auto strengths = common_error(3, [&](int rank, const Communicator& communicator) {
        const auto own = numbers(12, 20U + static_cast<unsigned>(rank));
        SumPlan plan(matrix_view(std::span<const double>(own), 3), {.communicator = communicator});
        Values out(8), q(rank == 1 ? 8 : 4, 1.0);
        const auto columns = rank == 1 ? 2 : 1;
        plan.execute(matrix_view(std::span<const double>(q), columns),
                     {.potential = matrix_view(std::span(out).first(q.size()), columns)});
    });
    test::expect_contains(strengths, {"strengths", "2", "1"});
}

TEST(SumOnRanks, RefusesMethodsThatDoNotDivide) {
    const auto points = numbers(300, 6);
    const auto message = common_error(2, [&](int /*rank*/, const Communicator& communicator) {
        SumPlan plan(matrix_view(std::span<const double>(points), 3),
                     {.kernel = Kernel::coulomb, .method = Method::reference, .communicator = communicator});
    });
    test::expect_contains(message, {"ranks", "direct"});
}

// With other numbers of points a rank than before, too.
TEST(SumOnRanks, KeepsItsPointsApartAfterAnUpdate) {
    for (const auto& whole :
         {Whole{.options = {.kernel = Kernel::coulomb}, .sources = 1200},
          Whole{.options = {.method = Method::fmm, .order = 4, .leaf = 30}, .sources = 1200}}) {
        const auto all = arrays_of(whole);
        const auto moved = numbers(3 * whole.sources, 9);
        Values expected(static_cast<std::size_t>(whole.sources));
        SumPlan one(matrix_view(std::span<const double>(moved), 3), whole.options);
        one.execute(std::span<const double>(all.strengths), {.potential = std::span(expected)});
        Values found(expected.size());
        comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
            const int rank = transport->rank();
            const auto [begin, end] = range_of(whole.sources, rank, 3, Division::even);
            const auto first = rank == 0   ? 0
                               : rank == 1 ? begin - 100
                                           : begin,
                       last = rank == 0 ? end - 100 : end;
            auto options = whole.options;
            options.communicator = CommunicatorAccess::of(std::move(transport));
            SumPlan plan(matrix_view(part(all.sources, begin, end, 3), 3), options);
            plan.execute(part(all.strengths, begin, end, 1),
                         {.potential = std::span(found).subspan(static_cast<std::size_t>(begin),
                                                                static_cast<std::size_t>(end - begin))});
            plan.update(matrix_view(part(moved, first, last, 3), 3));
            plan.execute(part(all.strengths, first, last, 1),
                         {.potential = std::span(found).subspan(static_cast<std::size_t>(first),
                                                                static_cast<std::size_t>(last - first))});
        });
        EXPECT_EQ(found, expected);
    }
}

/// Four points at one place, which the ranks of three have between them, and others.
Arrays with_points_at_one_place(const Whole& whole) {
    auto all = arrays_of(whole);
    for (const std::int64_t row : {5, 700, 1100, 1101})
        for (std::int64_t axis = 0; axis < 3; ++axis)
            all.sources[static_cast<std::size_t>(3 * row + axis)] =
                all.sources[static_cast<std::size_t>(axis)];
    return all;
}

TEST(SumOnRanks, LeavesOutPairsAtOnePlaceWhoeverHasThem) {
    const Whole whole{
        .options = {.method = Method::fmm, .order = 4, .leaf = 40, .coincident = Coincident::skip},
        .sources = 1500};
    const auto all = with_points_at_one_place(whole);
    const auto one = compute(whole, all, whole.options, {0, whole.sources}, {0, whole.sources});
    for (const double value : one.potential) ASSERT_TRUE(std::isfinite(value));
    EXPECT_EQ(compute_on_ranks(whole, all, 3, Division::even), one);
    EXPECT_EQ(compute_on_ranks(whole, all, 2, Division::all_on_the_last), one);
}

TEST(SumOnRanks, LeavesOutSourcesAtTheirTargets) {
    const Whole whole{
        .options = {.method = Method::fmm, .order = 4, .leaf = 40, .coincident = Coincident::skip},
        .sources = 1500,
        .targets = 900};
    auto all = arrays_of(whole);
    std::copy_n(all.sources.begin() + 3 * 1400, 3, all.targets.begin() + 3 * 20); // of ranks 2 and 0
    const auto one = compute(whole, all, whole.options, {0, whole.sources}, {0, whole.targets});
    ASSERT_TRUE(std::isfinite(one.potential[20]));
    EXPECT_EQ(compute_on_ranks(whole, all, 3, Division::even), one);
}

TEST(SumOnRanks, NamesRowsOfAllRanksThatLieAtOnePlace) {
    const Whole whole{.options = {.method = Method::fmm, .order = 4, .leaf = 40}, .sources = 1500};
    const auto all = with_points_at_one_place(whole);
    const auto alone = test::error_of<InvalidArgument>([&] {
        (void)compute(whole, all, whole.options, {0, whole.sources}, {0, whole.sources});
    });
    const auto message = common_error(3, [&](int rank, const Communicator& communicator) {
        auto options = whole.options;
        options.communicator = communicator;
        const auto range = range_of(whole.sources, rank, 3, Division::even);
        (void)compute(whole, all, options, range, range);
    });
    EXPECT_EQ(message, alone);
}

// A float has no number for the distance of two points that different ranks have.
TEST(SumOnRanks, LooksForPairsBeyondFloatAmongAllPoints) {
    Whole whole{.options = {.method = Method::fmm, .order = 4, .leaf = 40, .precision = Precision::float32},
                .sources = 900};
    auto all = arrays_of(whole);
    for (std::size_t axis = 0; axis < 3; ++axis) {
        all.sources[3 * 4 + axis] = 1e-44;
        all.sources[3 * 800 + axis] = 3e-44;
    }
    const auto alone = test::error_of<InvalidArgument>([&] {
        (void)compute(whole, all, whole.options, {0, whole.sources}, {0, whole.sources});
    });
    const auto of_ranks = [&](int rank, const Communicator& communicator) {
        auto options = whole.options;
        options.communicator = communicator;
        const auto range = range_of(whole.sources, rank, 3, Division::even);
        (void)compute(whole, all, options, range, range);
    };
    EXPECT_EQ(common_error(3, of_ranks), alone);
    // where the precision is left to the sum, it takes double
    whole.options.precision = Precision::automatic;
    whole.options.tolerance = 1e-3;
    whole.options.order = 0;
    const auto one = compute(whole, all, whole.options, {0, whole.sources}, {0, whole.sources});
    EXPECT_EQ(compute_on_ranks(whole, all, 3, Division::even), one);
}

// Each rank sums exactly over its own points at the same sampled targets; or, where all have all points, at
// some of them, or over some waves.
TEST(SumOnRanks, TellsTheErrorsOfOneRank) {
    SumOptions softened{.method = Method::fmm, .softening = 0.1, .tolerance = 1e-4};
    SumOptions with_dipoles{
        .kernel = Kernel::coulomb, .method = Method::fmm, .tolerance = 1e-3, .dipoles = true};
    SumOptions in_box{.kernel = Kernel::coulomb,
                      .method = Method::pme,
                      .period = {4.0, 4.0, 4.0},
                      .background = Background::uniform,
                      .tolerance = 1e-4};
    SumOptions along_line{
        .kernel = Kernel::coulomb, .method = Method::direct, .period = {4.0, 0.0, 0.0}, .tolerance = 1e-4};
    for (const auto& whole :
         {Whole{.options = {.method = Method::fmm, .tolerance = 1e-4}, .sources = 4000},
          Whole{.options = {.method = Method::treecode, .tolerance = 1e-3}, .sources = 3000},
          Whole{.options = in_box, .sources = 2000},
          Whole{.options = along_line, .sources = 600, .neutral = true},
          Whole{.options = {.method = Method::fmm, .tolerance = 1e-11}, .sources = 3000},
          Whole{.options = softened, .sources = 3000}, Whole{.options = with_dipoles, .sources = 2500},
          Whole{.options = {.method = Method::fmm, .tolerance = 1e-4}, .sources = 300}}) {
        const auto all = arrays_of(whole);
        const auto errors_with = [&](const SumOptions& options, Range range, Range targets) {
            const auto sources = matrix_view(part(all.sources, range.first, range.second, 3), 3);
            SumPlan plan =
                whole.self()
                    ? SumPlan(sources, options)
                    : SumPlan(sources, matrix_view(part(all.targets, targets.first, targets.second, 3), 3),
                              options);
            const auto rows = static_cast<std::size_t>(targets.second - targets.first);
            Values potential(rows), field(3 * rows);
            SumStrengths strengths{.charges = part(all.strengths, range.first, range.second, 1)};
            if (!all.dipoles.empty())
                strengths.dipoles = matrix_view(part(all.dipoles, range.first, range.second, 3), 3);
            plan.execute(strengths,
                         {.potential = std::span(potential), .field = matrix_view(std::span(field), 3)});
            return plan.report().errors;
        };
        const auto one = errors_with(whole.options, {0, whole.sources}, {0, whole.rows()});
        ASSERT_EQ(one.size(), 2U);
        comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
            const auto range = range_of(whole.sources, transport->rank(), 3, Division::even);
            const auto targets = range_of(whole.rows(), transport->rank(), 3, Division::even);
            auto options = whole.options;
            options.communicator = CommunicatorAccess::of(std::move(transport));
            const auto found = errors_with(options, range, targets);
            ASSERT_EQ(found.size(), one.size());
            for (std::size_t k = 0; k < one.size(); ++k) {
                EXPECT_EQ(found[k].samples, one[k].samples);
                // exact sums in double, added up in another order
                const double rounding = 1e-14 / one[k].relative + 1e-12;
                EXPECT_NEAR(found[k].relative / one[k].relative, 1.0, rounding) << name_of(one[k].output);
                EXPECT_NEAR(found[k].median / one[k].median, 1.0, 10.0 * rounding);
                EXPECT_NEAR(found[k].maximum / one[k].maximum, 1.0, rounding);
            }
        });
    }
}

// An order that does not reach the tolerance: double is tried before the sum is refused, also by ranks that
// have no sources, or no targets.
TEST(SumOnRanks, TriesDoubleWhereARankHasNoPoints) {
    const SumOptions options{.method = Method::fmm, .tolerance = 1e-4, .order = 2, .leaf = 30};
    for (const auto& whole : {Whole{.options = options, .sources = 3000},
                              Whole{.options = options, .sources = 3000, .targets = 2}}) {
        const auto all = arrays_of(whole);
        const auto alone = test::error_of<ToleranceNotReached>([&] {
            (void)compute(whole, all, whole.options, {0, whole.sources}, {0, whole.rows()});
        });
        std::vector<std::string> messages(4);
        comm::run_ranks(4, [&](std::shared_ptr<comm::Transport> transport) {
            const int rank = transport->rank();
            auto own = whole.options;
            own.communicator = CommunicatorAccess::of(std::move(transport));
            const auto sources = range_of(whole.sources, rank, 4, Division::all_on_the_last);
            const auto targets = whole.self() ? sources : range_of(whole.targets, rank, 4, Division::even);
            messages[static_cast<std::size_t>(rank)] = test::error_of<ToleranceNotReached>(
                [&] { (void)compute(whole, all, own, sources, targets); });
        });
        for (const auto& message : messages) EXPECT_EQ(message, alone);
        test::expect_contains(alone, {"double"});
    }
}

TEST(SumOnRanks, SumsDipolesAloneWhereARankHasNoPoints) {
    const Whole whole{.options = {.kernel = Kernel::coulomb,
                                  .method = Method::fmm,
                                  .order = 4,
                                  .leaf = 40,
                                  .dipoles = true},
                      .sources = 1500};
    const auto all = arrays_of(whole);
    const auto dipole_sum = [&](const SumOptions& options, Range range) {
        SumPlan plan(matrix_view(part(all.sources, range.first, range.second, 3), 3), options);
        const auto rows = static_cast<std::size_t>(range.second - range.first);
        Values potential(rows), field(3 * rows);
        plan.execute(
            {.charges = {}, .dipoles = matrix_view(part(all.dipoles, range.first, range.second, 3), 3)},
            {.potential = std::span(potential), .field = matrix_view(std::span(field), 3)});
        return std::pair{potential, plan.report().energy.value()};
    };
    const auto [expected, energy] = dipole_sum(whole.options, {0, whole.sources});
    comm::run_ranks(
        3, [&, &expected = expected, energy = energy](std::shared_ptr<comm::Transport> transport) {
            const auto range = range_of(whole.sources, transport->rank(), 3, Division::all_on_the_last);
            auto options = whole.options;
            options.communicator = CommunicatorAccess::of(std::move(transport));
            const auto [found, all_energy] = dipole_sum(options, range);
            if (!found.empty()) {
                EXPECT_EQ(found, expected);
            }
            EXPECT_NEAR(all_energy / energy, 1.0, 1e-12);
        });
}

// Arrays of float without rows are outputs, too; a rank may give charges where another gives dipoles.
TEST(SumOnRanks, TakesOutputsOfFloatsAndStrengthsOfEitherKind) {
    const Whole whole{.options = {.kernel = Kernel::coulomb,
                                  .method = Method::fmm,
                                  .order = 4,
                                  .leaf = 40,
                                  .dipoles = true},
                      .sources = 1200};
    auto all = arrays_of(whole);
    for (std::size_t i = 0; i < 600; ++i)
        std::fill_n(all.dipoles.begin() + 3 * static_cast<std::ptrdiff_t>(i), 3, 0.0);
    for (std::size_t i = 600; i < 1200; ++i) all.strengths[i] = 0.0;
    const auto one = compute(whole, all, whole.options, {0, whole.sources}, {0, whole.sources});
    std::vector<float> found(one.potential.size());
    comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
        const int rank = transport->rank();
        auto options = whole.options;
        options.communicator = CommunicatorAccess::of(std::move(transport));
        const Range range = rank == 0 ? Range{0, 600} : rank == 1 ? Range{600, 600} : Range{600, 1200};
        SumPlan plan(matrix_view(part(all.sources, range.first, range.second, 3), 3), options);
        SumStrengths strengths;
        if (rank != 2) strengths.charges = part(all.strengths, range.first, range.second, 1);
        if (rank != 0) strengths.dipoles = matrix_view(part(all.dipoles, range.first, range.second, 3), 3);
        auto* const begin = found.data() + range.first;
        plan.execute(strengths,
                     {.potential = std::span(begin, static_cast<std::size_t>(range.second - range.first))});
    });
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], static_cast<float>(one.potential[i]));
}

TEST(SumOnRanks, HasNoPointsAfterAnUpdateThatFailed) {
    const auto points = numbers(300, 6);
    comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
        const int rank = transport->rank();
        SumPlan plan(matrix_view(std::span<const double>(points), 3),
                     {.method = Method::fmm,
                      .order = 4,
                      .communicator = CommunicatorAccess::of(std::move(transport))});
        auto moved = points;
        if (rank == 1) moved[5] = std::numeric_limits<double>::infinity();
        EXPECT_THROW(plan.update(matrix_view(std::span<const double>(moved), 3)), InvalidArgument);
        Values q(100, 1.0), out(100);
        test::expect_contains(test::error_of<InvalidArgument>([&] {
                                  plan.execute(std::span<const double>(q), {.potential = std::span(out)});
                              }),
                              {"no points"});
    });
}

// A rank without points names no output and no strengths; another alone wants the field.
TEST(SumOnRanks, ComputesWhatAnyRankWants) {
    const Whole whole{.options = {.method = Method::fmm, .order = 4, .leaf = 40}, .sources = 1500};
    const auto all = arrays_of(whole);
    const auto one = compute(whole, all, whole.options, {0, whole.sources}, {0, whole.sources});
    Values potential(one.potential.size()), field(static_cast<std::size_t>(3 * 700));
    comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
        const int rank = transport->rank();
        auto options = whole.options;
        options.communicator = CommunicatorAccess::of(std::move(transport));
        const Range range = rank == 0 ? Range{0, 700} : rank == 1 ? Range{700, 700} : Range{700, 1500};
        SumPlan plan(matrix_view(part(all.sources, range.first, range.second, 3), 3), options);
        SumOutputs outputs;
        if (rank != 1)
            outputs.potential = std::span(potential).subspan(
                static_cast<std::size_t>(range.first), static_cast<std::size_t>(range.second - range.first));
        if (rank == 0) outputs.field = matrix_view(std::span(field), 3);
        plan.execute(rank == 1 ? ConstArrayView() : part(all.strengths, range.first, range.second, 1),
                     outputs);
        EXPECT_TRUE(plan.report().energy.has_value());
    });
    EXPECT_EQ(potential, one.potential);
    EXPECT_EQ(field, Values(one.field.begin(), one.field.begin() + 3 * 700));
}

// Of a tree of which each rank has a part, reports tell all ranks' counts.
TEST(SumOnRanks, TellsTheCountsOfAll) {
    for (const auto method : {Method::fmm, Method::treecode})
        for (const std::int64_t targets : {0, 900}) {
            const Whole whole{
                .options = {.method = method, .order = 4, .leaf = 20}, .sources = 5000, .targets = targets};
            const auto all = test::arrays_of(whole);
            SumReport one;
            test::compute(whole, all, whole.options, {0, whole.sources}, {0, whole.rows()}, {}, &one);
            ASSERT_GT(one.fmm.near_pairs + one.treecode.near_pairs, 0);
            comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
                const int rank = transport->rank();
                auto options = whole.options;
                options.communicator = CommunicatorAccess::of(std::move(transport));
                const auto sources = range_of(whole.sources, rank, 3, Division::even);
                const auto rows = range_of(whole.rows(), rank, 3, Division::even);
                SumReport found;
                test::compute(whole, all, options, sources, rows, {}, &found);
                EXPECT_EQ(found.fmm.cells, one.fmm.cells);
                EXPECT_EQ(found.fmm.leaves, one.fmm.leaves);
                EXPECT_EQ(found.fmm.near_pairs, one.fmm.near_pairs);
                EXPECT_EQ(found.fmm.multiply_adds, one.fmm.multiply_adds);
                EXPECT_EQ(found.treecode.cells, one.treecode.cells);
                EXPECT_EQ(found.treecode.groups, one.treecode.groups);
                EXPECT_EQ(found.treecode.near_pairs, one.treecode.near_pairs);
                EXPECT_EQ(found.treecode.far_pairs, one.treecode.far_pairs);
            });
        }
}

// Where one rank is to stop, all do.
TEST(SumOnRanks, StopsWhereOneRankIsAsked) {
    for (const auto& whole :
         {Whole{.options = {}, .sources = 6000}, Whole{.options = {}, .sources = 6000, .targets = 6000},
          Whole{.options = {.method = Method::fmm, .order = 8}, .sources = 30000},
          Whole{.options = {.method = Method::treecode, .order = 6}, .sources = 30000},
          Whole{.options = {.method = Method::treecode, .order = 4}, .sources = 30000, .targets = 2000}})
        EXPECT_EQ(test::interrupted_of_three(whole), 3);
}

} // namespace
} // namespace farfield
