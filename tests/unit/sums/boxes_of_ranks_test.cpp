// Sums over periodic boxes whose ranks share the work: the results of one rank, bit by bit, on any number of
// ranks, and what ranks do with points at one place, mistakes and stops.
#include "on_ranks.h"

#include "backend/simd/isa.h"
#include "sums/ewald/waves.h"
#include "sums/pme/transform.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace farfield {
namespace {

using test::Arrays, test::arrays_of, test::common_error, test::compute, test::compute_on_ranks;
using test::Division, test::expect_bits_of_one, test::numbers, test::Range, test::range_of, test::Whole;

/// A box that most of the points lie in; charges at random are not neutral.
SumOptions in_box(Method method) {
    return {.kernel = Kernel::coulomb,
            .method = method,
            .period = {4.0, 5.0, 6.0},
            .background = Background::uniform};
}

constexpr std::array both{Method::ewald, Method::pme};

TEST(SumOfBoxesOnRanks, HasTheBitsOfOne) {
    for (const auto method : both) expect_bits_of_one({.options = in_box(method), .sources = 1900});
}

TEST(SumOfBoxesOnRanks, SoftenedHasTheBitsOfOne) {
    for (const auto method : both) {
        auto options = in_box(method);
        options.softening = 0.1;
        const Whole whole{.options = options, .sources = 600};
        const auto all = arrays_of(whole);
        const auto one = compute(whole, all, options, {0, whole.sources}, {0, whole.sources});
        EXPECT_EQ(compute_on_ranks(whole, all, 3, Division::even), one);
    }
}

TEST(SumOfBoxesOnRanks, OfSeparateTargetsHasTheBitsOfOne) {
    for (const auto method : both) {
        expect_bits_of_one({.options = in_box(method), .sources = 700, .targets = 1300});
        expect_bits_of_one({.options = in_box(method), .sources = 1300, .targets = 2});
    }
}

TEST(SumOfBoxesOnRanks, OfFewPointsHasTheBitsOfOne) {
    for (const auto method : both)
        for (const std::int64_t n : {1, 3, 257})
            expect_bits_of_one({.options = in_box(method), .sources = n});
}

TEST(SumOfBoxesOnRanks, OfSeveralVectorsHasTheBitsOfOne) {
    for (const auto method : both)
        expect_bits_of_one({.options = in_box(method), .sources = 500, .vectors = 2});
}

// The tolerance chooses, and the result is compared: then it may be computed again.
TEST(SumOfBoxesOnRanks, WithinAToleranceHasTheBitsOfOne) {
    for (const auto method : both)
        for (const double tolerance : {1e-3, 1e-9}) {
            auto options = in_box(method);
            options.tolerance = tolerance;
            expect_bits_of_one({.options = options, .sources = 600});
        }
}

// Meshes of odd and of large orders, which reach far into the planes of other ranks.
TEST(SumOfBoxesOnRanks, OfAnyOrderHasTheBitsOfOne) {
    for (const int order : {5, 12}) {
        auto options = in_box(Method::pme);
        options.order = order;
        expect_bits_of_one({.options = options, .sources = 1500});
    }
}

TEST(SumOfBoxesOnRanks, InAThinBoxHasTheBitsOfOne) {
    auto options = in_box(Method::pme);
    options.period = {9.0, 6.0, 0.5};
    options.order = 6;
    expect_bits_of_one({.options = options, .sources = 900});
}

/// Charges that sum to 0, as a vacuum needs.
Arrays neutral(const Whole& whole) {
    auto all = arrays_of(whole);
    for (std::size_t i = 0; i < all.strengths.size(); ++i) all.strengths[i] = i % 2 == 0 ? 1.0 : -1.0;
    return all;
}

TEST(SumOfBoxesOnRanks, InVacuumHasTheBitsOfOne) {
    for (const auto method : both) {
        auto options = in_box(method);
        options.background = Background::none;
        options.boundary = Boundary::vacuum;
        const Whole whole{.options = options, .sources = 900};
        const auto all = neutral(whole);
        const auto one = compute(whole, all, options, {0, whole.sources}, {0, whole.sources});
        for (const auto division : {Division::even, Division::all_on_the_last})
            EXPECT_EQ(compute_on_ranks(whole, all, 3, division), one);
    }
}

/// Points at one place, or at images of it, which the ranks of three have between them; and two more in the
/// first of all cells, which are the last by their rows.
Arrays with_images_at_one_place(const Whole& whole) {
    auto all = arrays_of(whole);
    const auto at = [&](std::int64_t row, std::size_t axis) -> double& {
        return all.sources[static_cast<std::size_t>(3 * row) + axis];
    };
    for (std::size_t axis = 0; axis < 3; ++axis) {
        at(0, axis) = 2.0 + 0.25 * static_cast<double>(axis);
        for (const std::int64_t row : {5, 400, 800, 801})
            at(row, axis) = at(0, axis) + (row == 400 ? whole.options.period[axis] : 0.0);
        at(900, axis) = at(901, axis) = 0.0625;
    }
    return all;
}

TEST(SumOfBoxesOnRanks, LeavesOutPairsAtOnePlaceWhoeverHasThem) {
    for (const auto method : both) {
        auto options = in_box(method);
        options.coincident = Coincident::skip;
        const Whole whole{.options = options, .sources = 1000};
        const auto all = with_images_at_one_place(whole);
        const auto one = compute(whole, all, options, {0, whole.sources}, {0, whole.sources});
        for (const double value : one.potential) ASSERT_TRUE(std::isfinite(value));
        for (const int ranks : {2, 3, 5})
            EXPECT_EQ(compute_on_ranks(whole, all, ranks, Division::even), one) << ranks;
    }
}

TEST(SumOfBoxesOnRanks, CountsPairsAsOneDoes) {
    for (const auto method : both) {
        auto options = in_box(method);
        options.coincident = Coincident::skip;
        const Whole whole{.options = options, .sources = 1000};
        const auto all = with_images_at_one_place(whole);
        const auto report_of = [&](const SumOptions& with, Range range) {
            SumPlan plan(matrix_view(test::part(all.sources, range.first, range.second, 3), 3), with);
            test::Values out(static_cast<std::size_t>(range.second - range.first));
            plan.execute(test::part(all.strengths, range.first, range.second, 1),
                         {.potential = std::span(out)});
            return plan.report();
        };
        const auto one = report_of(options, {0, whole.sources});
        EXPECT_EQ(one.direct.coincident_pairs_skipped, 22);
        comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
            const auto range = range_of(whole.sources, transport->rank(), 3, Division::even);
            auto with = options;
            with.communicator = CommunicatorAccess::of(std::move(transport));
            const auto report = report_of(with, range);
            EXPECT_EQ(report.direct.coincident_pairs_skipped, one.direct.coincident_pairs_skipped);
            EXPECT_EQ(report.lattice.near_pairs, one.lattice.near_pairs);
            EXPECT_EQ(report.lattice.waves, one.lattice.waves);
            EXPECT_EQ(report.lattice.mesh, one.lattice.mesh);
            EXPECT_EQ(report.lattice.excess_strength, one.lattice.excess_strength);
        });
    }
}

TEST(SumOfBoxesOnRanks, NamesRowsOfAllRanksThatLieAtOnePlace) {
    for (const auto method : both) {
        const Whole whole{.options = in_box(method), .sources = 1000};
        auto all = with_images_at_one_place(whole);
        const auto message_alone = [&] {
            return test::error_of<InvalidArgument>([&] {
                (void)compute(whole, all, whole.options, {0, whole.sources}, {0, whole.sources});
            });
        };
        const auto message = common_error(3, [&](int rank, const Communicator& communicator) {
            auto options = whole.options;
            options.communicator = communicator;
            const auto range = range_of(whole.sources, rank, 3, Division::even);
            (void)compute(whole, all, options, range, range);
        });
        EXPECT_EQ(message, message_alone());
    }
}

TEST(SumOfBoxesOnRanks, RefusesChargesThatAreNotNeutralOnAll) {
    for (const auto method : both) {
        auto options = in_box(method);
        options.background = Background::none;
        const Whole whole{.options = options, .sources = 90};
        const auto all = arrays_of(whole);
        const auto message = common_error(3, [&](int rank, const Communicator& communicator) {
            auto with = options;
            with.communicator = communicator;
            const auto range = range_of(whole.sources, rank, 3, Division::even);
            (void)compute(whole, all, with, range, range);
        });
        test::expect_contains(message, {"neutral"});
    }
}

TEST(SumOfBoxesOnRanks, AreOfferedInPlaceOfMethodsThatDoNotDivide) {
    auto options = in_box(Method::reference);
    const auto message = common_error(2, [&](int rank, const Communicator& communicator) {
        const auto own = numbers(30, 10U + static_cast<unsigned>(rank));
        auto with = options;
        with.communicator = communicator;
        SumPlan plan(matrix_view(std::span<const double>(own), 3), with);
    });
    test::expect_contains(message, {"reference", "ranks", "pme"});
}

// With other numbers of points a rank than before, too, and from a thin layer, of which a rank needs few
// planes of the mesh.
TEST(SumOfBoxesOnRanks, KeepsItsBitsAfterAnUpdate) {
    for (const auto method : both)
        for (const double tolerance : {0.0, 1e-4}) {
            Whole whole{.options = in_box(method), .sources = 900};
            whole.options.tolerance = tolerance;
            auto all = arrays_of(whole);
            const auto moved = numbers(3 * whole.sources, 9);
            for (std::size_t i = 2; i < all.sources.size(); i += 3) all.sources[i] *= 0.01;
            test::Values expected(static_cast<std::size_t>(whole.sources)), found(expected.size());
            SumPlan one(matrix_view(std::span<const double>(moved), 3), whole.options);
            one.execute(std::span<const double>(all.strengths), {.potential = std::span(expected)});
            comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
                const int rank = transport->rank();
                const auto [begin, end] = range_of(whole.sources, rank, 3, Division::even);
                auto options = whole.options;
                options.communicator = CommunicatorAccess::of(std::move(transport));
                SumPlan plan(matrix_view(test::part(all.sources, begin, end, 3), 3), options);
                const auto first = rank == 1 ? begin - 100 : begin, last = rank == 0 ? end - 100 : end;
                const auto own = std::span(found).subspan(static_cast<std::size_t>(first),
                                                          static_cast<std::size_t>(last - first));
                plan.update(matrix_view(test::part(moved, first, last, 3), 3));
                plan.execute(test::part(all.strengths, first, last, 1), {.potential = own});
                plan.execute(test::part(all.strengths, first, last, 1), {.potential = own}); // once more
            });
            EXPECT_EQ(found, expected);
        }
}

// Where one rank is to stop, all do.
TEST(SumOfBoxesOnRanks, StopsWhereOneRankIsAsked) {
    for (const auto method : both)
        for (const std::int64_t targets : {0, 2000})
            EXPECT_EQ(
                test::interrupted_of_three({.options = in_box(method), .sources = 3000, .targets = targets}),
                3);
}

// A rank that gives up between messages leaves none out: the others would wait for them.
TEST(SumOfBoxesOnRanks, TransformsToTheEndOfAllMessages) {
    constexpr std::array<std::int32_t, 3> mesh{12, 10, 9};
    RawVector<double> factors(static_cast<std::size_t>(7 * 6 * 5));
    const auto some = numbers(std::ssize(factors), 3);
    std::copy(some.begin(), some.end(), factors.begin());
    const auto values = numbers(1080, 4);
    const auto transformed = [&](comm::Transport* ranks, bool gives_up) {
        RawVector<double> out(values.size());
        std::copy(values.begin(), values.end(), out.begin());
        WorkWatch watch(1.0, {}, {});
        if (gives_up) watch.give_up();
        MeshTransform(mesh, 1, ranks).multiply(out, factors, watch);
        return out;
    };
    const auto alone = transformed(nullptr, false);
    for (const int ranks : {2, 4, 11}) // more ranks than planes
        comm::run_ranks(ranks, [&](const std::shared_ptr<comm::Transport>& transport) {
            const auto found = transformed(transport.get(), false);
            const auto planes = comm::equal_parts(*transport, mesh[2]);
            const auto rank = static_cast<std::size_t>(transport->rank());
            for (auto i = 120 * planes[rank]; i < 120 * planes[rank + 1]; ++i)
                ASSERT_EQ(found[static_cast<std::size_t>(i)], alone[static_cast<std::size_t>(i)]);
            (void)transformed(transport.get(), transport->rank() == 1);
        });
}

TEST(SumOfBoxesOnRanks, AddsWavesToTheEndOfAllMessages) {
    SumProblem problem;
    problem.period = {1.0, 1.0, 1.0};
    const PeriodicFrame frame(problem);
    const auto points = numbers(1500, 5), strengths = numbers(500, 6);
    comm::run_ranks(3, [&](const std::shared_ptr<comm::Transport>& transport) {
        const auto at = wrapped(frame, points, 1);
        Waves waves(frame, cutoffs_for(frame, 500.0, 4.0, 1e-3), resolve_isa(Isa::automatic), 1,
                    transport.get());
        WorkWatch watch(1.0, {}, {});
        if (transport->rank() == 1) watch.give_up();
        waves.set_sources(at, strengths, watch);
        EXPECT_TRUE(comm::any_rank(*transport, watch.stopped()));
    });
}

} // namespace
} // namespace farfield
