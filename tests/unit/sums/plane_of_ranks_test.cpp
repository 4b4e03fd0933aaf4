// Fast multipole sums in the plane whose ranks each give points of their own: the bits of one rank, mistakes,
// errors, and what a rank gets of others.
#include "counting_transport.h"
#include "on_ranks.h"
#include "sums/fmm/plane/plane_shape.h"
#include "sums/points/plane.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <tuple>

namespace farfield {
namespace {

using test::Arrays, test::arrays_of, test::common_error, test::compute, test::compute_on_ranks;
using test::Division, test::expect_bits_of_one, test::numbers, test::part, test::Range, test::range_of;
using test::Values, test::Whole;

const std::vector<Division> every_division{Division::even, Division::all_on_the_last,
                                           Division::on_every_other};

SumOptions by_expansions(Kernel kernel, int order, int leaf) {
    return {.kernel = kernel, .method = Method::fmm, .order = order, .leaf = leaf};
}

Whole charges(int order, int leaf, std::int64_t sources, std::int64_t targets = 0) {
    return {.options = by_expansions(Kernel::laplace2d, order, leaf),
            .dimension = 2,
            .sources = sources,
            .targets = targets,
            .numbers = 2};
}

/// The points of a set by quadrants, and from left to right: ranks with parts of them have a region each.
void sort_by_place(Values& points) {
    struct Row {
        double x, y;
        [[nodiscard]] auto place() const { return std::tuple(y > 0.0, x > 0.0, x, y); }
    };
    std::vector<Row> rows;
    for (std::size_t i = 0; i < points.size(); i += 2) rows.push_back({points[i], points[i + 1]});
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.place() < b.place(); });
    for (std::size_t i = 0; i < rows.size(); ++i) {
        points[2 * i] = rows[i].x;
        points[2 * i + 1] = rows[i].y;
    }
}

/// Near the origin many more than elsewhere: leaves lie beside much smaller ones.
void draw_together(Values& points) {
    for (std::size_t i = 0; i < points.size(); i += 2) {
        const double factor = std::pow(points[i] * points[i] + points[i + 1] * points[i + 1], 2.0);
        points[i] *= factor;
        points[i + 1] *= factor;
    }
}

TEST(PlaneOnRanks, OfScatteredPointsHasTheBitsOfOne) {
    for (const auto precision : {Precision::float32, Precision::mixed, Precision::float64}) {
        auto whole = charges(8, 25, 7000);
        whole.options.precision = precision;
        expect_bits_of_one(whole, arrays_of(whole), every_division);
    }
    const auto many = charges(3, 60, 70000); // strengths are added up in several parts
    expect_bits_of_one(many, arrays_of(many), every_division);
    for (const std::int64_t n : {1, 2, 20}) expect_bits_of_one(charges(4, 5, n));
}

TEST(PlaneOnRanks, OfRegionsHasTheBitsOfOne) {
    const auto whole = charges(6, 20, 9000);
    auto all = arrays_of(whole);
    sort_by_place(all.sources);
    expect_bits_of_one(whole, all, every_division);
}

TEST(PlaneOnRanks, OfClustersHasTheBitsOfOne) {
    for (const std::int64_t targets : {0, 6000}) {
        const auto whole = charges(5, 12, 5000, targets);
        auto all = arrays_of(whole);
        draw_together(all.sources);
        draw_together(all.targets);
        expect_bits_of_one(whole, all, every_division);
    }
}

TEST(PlaneOnRanks, OfSeparateTargetsHasTheBitsOfOne) {
    for (const std::int64_t targets : {1, 2, 700, 9000}) {
        const auto whole = charges(6, 20, 3000, targets);
        expect_bits_of_one(whole, arrays_of(whole), every_division);
    }
    auto regional = charges(6, 20, 3000, 4000);
    auto all = arrays_of(regional);
    sort_by_place(all.sources);
    sort_by_place(all.targets);
    for (std::size_t i = 0; i < all.targets.size(); i += 2) all.targets[i] += 3.0; // few leaves have both
    expect_bits_of_one(regional, all, every_division);
}

TEST(PlaneOnRanks, WithSeparationTwoHasTheBitsOfOne) {
    auto whole = charges(5, 15, 4000);
    whole.options.separation = 2;
    expect_bits_of_one(whole);
}

TEST(PlaneOnRanks, OfVorticesHasTheBitsOfOne) {
    for (const double sigma : {0.0, 0.01, 0.2}) {
        Whole whole{.options = by_expansions(Kernel::vortex2d, 6, 30), .dimension = 2, .sources = 5000};
        whole.options.sigma = sigma;
        expect_bits_of_one(whole, arrays_of(whole), every_division);
    }
}

// Imaginary parts that one rank alone has: the others form expansions of both parts, too. Some of them are
// nothing beside the largest strength.
TEST(PlaneOnRanks, OfStrengthsOfEitherKindHasTheBitsOfOne) {
    const auto whole = charges(6, 20, 5000);
    auto all = arrays_of(whole);
    for (std::size_t i = 1; i < all.strengths.size(); i += 2) all.strengths[i] = 0.0;
    expect_bits_of_one(whole, all);
    all.strengths.back() = 0.5;
    expect_bits_of_one(whole, all);
    all.strengths.back() = 1e-320;
    all.strengths.front() = 1e+300;
    expect_bits_of_one(whole, all);
}

// Any number of rows a rank, and parts of a sum that three ranks have between them.
TEST(PlaneOnRanks, AddUpStrengthsAsOneDoes) {
    for (const std::int64_t n : {1, 1000, 16384, 32768, 50000}) {
        auto values = numbers(n, 7);
        for (std::size_t i = 0; i < values.size(); i += 3) values[i] *= 1e9; // every order has its bits
        const double one = sum_of(values, 2);
        for (const int ranks : {1, 2, 3, 5, 8})
            for (const auto division : every_division)
                comm::run_ranks(ranks, [&](comm::Transport& transport) {
                    const auto [begin, end] = range_of(n, transport.rank(), ranks, division);
                    EXPECT_EQ(sum_of_all(transport, part(values, begin, end, 1), 1), one)
                        << n << " numbers, " << ranks << " ranks, " << test::name_of(division);
                });
        std::mt19937 random(3);
        comm::run_ranks(7, [&, cuts = [&] {
                            std::vector<std::int64_t> out{0, n};
                            for (int k = 0; k < 6; ++k)
                                out.push_back(static_cast<std::int64_t>(random() % static_cast<unsigned>(n)));
                            std::sort(out.begin(), out.end());
                            return out;
                        }()](comm::Transport& transport) {
            const auto r = static_cast<std::size_t>(transport.rank());
            EXPECT_EQ(sum_of_all(transport, part(values, cuts[r], cuts[r + 1], 1), 1), one) << n;
        });
    }
}

/// A sum that keeps its report.
struct Told {
    test::Outputs outputs;
    SumReport report;
};

Told told(const Whole& whole, const Arrays& all, const SumOptions& options, Range sources, Range targets) {
    const auto of = [](const Values& points, Range rows) {
        return matrix_view(part(points, rows.first, rows.second, 2), 2);
    };
    SumPlan plan = whole.self() ? SumPlan(of(all.sources, sources), options)
                                : SumPlan(of(all.sources, sources), of(all.targets, targets), options);
    const auto m = static_cast<std::size_t>(targets.second - targets.first);
    Told out{.outputs = {Values(2 * m), Values(2 * m), {}}, .report = {}};
    plan.execute(matrix_view(part(all.strengths, sources.first, sources.second, 2), 2),
                 {.potential = matrix_view(std::span(out.outputs.potential), 2),
                  .field = matrix_view(std::span(out.outputs.field), 2)});
    out.report = plan.report();
    return out;
}

// Points for which the first order does not suffice: all take the same next one, of the tree that it has.
TEST(PlaneOnRanks, WithinAToleranceRefinesAsOneDoes) {
    for (const std::int64_t targets : {0, 3000}) {
        auto whole = charges(0, 20, 4000, targets);
        whole.options.tolerance = 1e-6;
        whole.options.grading = 0.8; // far offsets have fewer orders than they need
        const auto all = arrays_of(whole);
        const auto one = told(whole, all, whole.options, {0, whole.sources}, {0, whole.rows()});
        ASSERT_GT(one.report.fmm.order, plane_order_for(1e-6, 1));
        ASSERT_EQ(one.report.errors.size(), 2U);
        for (const auto division : every_division)
            comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
                const auto sources = range_of(whole.sources, transport->rank(), 3, division);
                const auto rows = range_of(whole.rows(), transport->rank(), 3, division);
                auto options = whole.options;
                options.threads = 1;
                options.communicator = CommunicatorAccess::of(std::move(transport));
                const auto found = told(whole, all, options, sources, rows);
                EXPECT_EQ(found.report.fmm.order, one.report.fmm.order);
                EXPECT_EQ(found.report.fmm.cells, one.report.fmm.cells);
                EXPECT_EQ(found.report.fmm.near_pairs, one.report.fmm.near_pairs);
                const auto expected = part(one.outputs.field, rows.first, rows.second, 2);
                EXPECT_TRUE(std::equal(expected.begin(), expected.end(), found.outputs.field.begin()));
                ASSERT_EQ(found.report.errors.size(), 2U);
                for (std::size_t k = 0; k < 2; ++k) {
                    const auto &mine = found.report.errors[k], &its = one.report.errors[k];
                    EXPECT_EQ(mine.samples, its.samples);
                    EXPECT_NEAR(mine.relative / its.relative, 1.0, 1e-4) << name_of(mine.output);
                    EXPECT_NEAR(mine.maximum / its.maximum, 1.0, 1e-4);
                }
            });
    }
}

// Rank 0 alone has a strength. At the distance 1 its potential is 0 but for rounding, which is relative to
// that strength on all ranks.
TEST(PlaneOnRanks, TellsTheErrorOfAPotentialThatVanishes) {
    auto whole = charges(0, 5, 200);
    whole.options.tolerance = 1e-6;
    auto all = arrays_of(whole);
    std::fill(all.strengths.begin(), all.strengths.end(), 0.0);
    all.strengths[0] = 1.0;
    for (std::size_t i = 0; i < 200; ++i) {
        const double radius = i == 0 ? 0.0 : 1.0, angle = 0.1 + 0.03 * static_cast<double>(i);
        all.sources[2 * i] = 0.3 + radius * std::cos(angle);
        all.sources[2 * i + 1] = 0.7 + radius * std::sin(angle);
    }
    const auto one = told(whole, all, whole.options, {0, 200}, {0, 200});
    ASSERT_EQ(one.report.errors.size(), 2U);
    EXPECT_LT(one.report.errors[0].relative, 1e-6);
    comm::run_ranks(4, [&](std::shared_ptr<comm::Transport> transport) {
        const auto rows = range_of(200, transport->rank(), 4, Division::even);
        auto options = whole.options;
        options.communicator = CommunicatorAccess::of(std::move(transport));
        const auto found = told(whole, all, options, rows, rows);
        ASSERT_EQ(found.report.errors.size(), 2U);
        for (std::size_t k = 0; k < 2; ++k)
            EXPECT_NEAR(found.report.errors[k].relative, one.report.errors[k].relative, 1e-14);
    });
}

// With other numbers of points a rank than before, too.
TEST(PlaneOnRanks, KeepsItsPointsApartAfterAnUpdate) {
    for (const std::int64_t targets : {0, 900}) {
        const auto whole = charges(6, 20, 2400, targets);
        const auto all = arrays_of(whole);
        const auto moved = numbers(2 * whole.sources, 9), moved_targets = numbers(2 * targets, 10);
        auto later = all;
        later.sources = moved;
        later.targets = moved_targets;
        const auto one = compute(whole, later, whole.options, {0, whole.sources}, {0, whole.rows()});
        Values found(one.potential.size());
        comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
            const int rank = transport->rank();
            auto options = whole.options;
            options.communicator = CommunicatorAccess::of(std::move(transport));
            const auto points = [&](const Values& of, Range rows) {
                return matrix_view(part(of, rows.first, rows.second, 2), 2);
            };
            const auto at = [&](Range rows) {
                return matrix_view(
                    std::span(found).subspan(static_cast<std::size_t>(2 * rows.first),
                                             static_cast<std::size_t>(2 * (rows.second - rows.first))),
                    2);
            };
            const auto before = range_of(whole.sources, rank, 3, Division::even),
                       before_at = range_of(whole.rows(), rank, 3, Division::even);
            const auto now = range_of(whole.sources, rank, 3, Division::on_every_other),
                       now_at = range_of(whole.rows(), rank, 3,
                                         whole.self() ? Division::on_every_other : Division::all_on_the_last);
            SumPlan plan =
                whole.self() ? SumPlan(points(all.sources, before), options)
                             : SumPlan(points(all.sources, before), points(all.targets, before_at), options);
            plan.execute(points(all.strengths, before), {.potential = at(before_at)});
            if (whole.self())
                plan.update(points(moved, now));
            else
                plan.update(points(moved, now), points(moved_targets, now_at));
            plan.execute(points(all.strengths, now), {.potential = at(now_at)});
        });
        EXPECT_EQ(found, one.potential);
    }
}

/// Point number `from` of a set becomes number `to` of another.
void copy_point(const Values& points, std::ptrdiff_t from, Values& others, std::ptrdiff_t to) {
    std::copy_n(points.begin() + 2 * from, 2, others.begin() + 2 * to);
}

/// Four points at one place, which the ranks of three have between them.
Arrays in_plane_at_one_place(const Whole& whole) {
    auto all = arrays_of(whole);
    for (const std::ptrdiff_t row : {5, 700, 1100, 1101}) copy_point(all.sources, 0, all.sources, row);
    return all;
}

/// The message that one rank has for a sum, and all of three.
void expect_message_of_one(const Whole& whole, const Arrays& all) {
    const auto alone = test::error_of<InvalidArgument>([&] {
        (void)compute(whole, all, whole.options, {0, whole.sources}, {0, whole.rows()});
    });
    EXPECT_FALSE(alone.empty());
    for (const auto division : every_division) {
        const auto message = common_error(3, [&](int rank, const Communicator& communicator) {
            auto options = whole.options;
            options.communicator = communicator;
            (void)compute(whole, all, options, range_of(whole.sources, rank, 3, division),
                          range_of(whole.rows(), rank, 3, division));
        });
        EXPECT_EQ(message, alone) << test::name_of(division);
    }
}

TEST(PlaneOnRanks, NamesRowsOfAllRanksThatLieAtOnePlace) {
    const auto whole = charges(4, 40, 1500);
    expect_message_of_one(whole, in_plane_at_one_place(whole));
    const auto apart = charges(4, 40, 1500, 900);
    auto all = arrays_of(apart);
    copy_point(all.sources, 1400, all.targets, 20);
    expect_message_of_one(apart, all);
}

TEST(PlaneOnRanks, LeavesOutPairsAtOnePlaceWhoeverHasThem) {
    for (const std::int64_t targets : {0, 900}) {
        auto whole = charges(4, 40, 1500, targets);
        whole.options.coincident = Coincident::skip;
        auto all = in_plane_at_one_place(whole);
        if (targets > 0) copy_point(all.sources, 1400, all.targets, 20);
        const auto one = compute(whole, all, whole.options, {0, whole.sources}, {0, whole.rows()});
        for (const double value : one.potential) ASSERT_TRUE(std::isfinite(value));
        for (const auto division : every_division)
            EXPECT_TRUE(compute_on_ranks(whole, all, 3, division) == one) << test::name_of(division);
    }
}

TEST(PlaneOnRanks, TellsOfRowsThatAreNotFinite) {
    const auto whole = charges(4, 40, 1500);
    auto all = arrays_of(whole);
    for (auto& value : all.strengths) value *= 1e300;
    all.sources[2 * 1400] = all.sources[0]; // of ranks 2 and 0
    all.sources[2 * 1400 + 1] = all.sources[1] + 1e-13;
    expect_message_of_one(whole, all);
}

TEST(PlaneOnRanks, LooksForPairsBeyondFloatAmongAllPoints) {
    auto whole = charges(4, 40, 900);
    whole.options.precision = Precision::float32;
    auto all = arrays_of(whole);
    for (std::size_t axis = 0; axis < 2; ++axis) {
        all.sources[2 * 4 + axis] = 1e-44;
        all.sources[2 * 800 + axis] = 3e-44;
    }
    expect_message_of_one(whole, all);
}

TEST(PlaneOnRanks, TellsTheMistakeOfOneRankOnAll) {
    const auto whole = charges(4, 40, 900);
    auto bad = arrays_of(whole);
    bad.sources[2 * 400 + 1] = std::numeric_limits<double>::quiet_NaN();
    auto bad_strength = arrays_of(whole);
    bad_strength.strengths[2 * 850] = std::numeric_limits<double>::infinity();
    const auto message_of = [&](const Arrays& all) {
        return common_error(3, [&](int rank, const Communicator& communicator) {
            auto options = whole.options;
            options.communicator = communicator;
            const auto rows = range_of(whole.sources, rank, 3, Division::even);
            (void)compute(whole, all, options, rows, rows);
        });
    };
    test::expect_contains(message_of(bad), {"sources", "rank 1", "row 100", "nan"});
    test::expect_contains(message_of(bad_strength), {"strengths", "inf"});
}

TEST(PlaneOnRanks, TriesDoubleWhereARankHasNoPoints) {
    auto whole = charges(2, 30, 3000);
    whole.options.tolerance = 1e-4;
    const auto all = arrays_of(whole);
    const auto alone = test::error_of<ToleranceNotReached>([&] {
        (void)compute(whole, all, whole.options, {0, whole.sources}, {0, whole.rows()});
    });
    std::vector<std::string> messages(4);
    comm::run_ranks(4, [&](std::shared_ptr<comm::Transport> transport) {
        const int rank = transport->rank();
        auto options = whole.options;
        options.communicator = CommunicatorAccess::of(std::move(transport));
        const auto rows = range_of(whole.sources, rank, 4, Division::all_on_the_last);
        messages[static_cast<std::size_t>(rank)] =
            test::error_of<ToleranceNotReached>([&] { (void)compute(whole, all, options, rows, rows); });
    });
    EXPECT_FALSE(alone.empty());
    for (const auto& message : messages) EXPECT_EQ(message, alone);
}

// A rank without points names no output and no strengths; another alone wants the field.
TEST(PlaneOnRanks, ComputesWhatAnyRankWants) {
    const auto whole = charges(6, 30, 1500);
    const auto all = arrays_of(whole);
    const auto one = compute(whole, all, whole.options, {0, whole.sources}, {0, whole.sources});
    Values potential(one.potential.size());
    std::vector<float> field(static_cast<std::size_t>(2 * 700));
    comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
        const int rank = transport->rank();
        auto options = whole.options;
        options.communicator = CommunicatorAccess::of(std::move(transport));
        const Range range = rank == 0 ? Range{0, 700} : rank == 1 ? Range{700, 700} : Range{700, 1500};
        SumPlan plan(matrix_view(part(all.sources, range.first, range.second, 2), 2), options);
        SumOutputs outputs;
        if (rank == 2)
            outputs.potential =
                matrix_view(std::span(potential).subspan(static_cast<std::size_t>(2 * range.first)), 2);
        if (rank == 0) outputs.field = matrix_view(std::span(field), 2);
        plan.execute(rank == 1 ? ConstArrayView()
                               : matrix_view(part(all.strengths, range.first, range.second, 2), 2),
                     outputs);
    });
    EXPECT_TRUE(std::equal(potential.begin() + 1400, potential.end(), one.potential.begin() + 1400));
    for (std::size_t i = 0; i < field.size(); ++i) ASSERT_EQ(field[i], static_cast<float>(one.field[i]));
}

TEST(PlaneOnRanks, StopsWhereOneRankIsAsked) {
    EXPECT_EQ(test::interrupted_of_three(charges(8, 25, 30000)), 3);
    EXPECT_EQ(test::interrupted_of_three(charges(8, 25, 20000, 20000)), 3);
}

// As in simulations.
TEST(PlaneOnRanks, WhereEachGivesEverythingEachGetsAll) {
    for (const std::int64_t targets : {0, 2000}) {
        const auto whole = charges(6, 20, 5000, targets);
        const auto all = arrays_of(whole);
        const auto one = compute(whole, all, whole.options, {0, whole.sources}, {0, whole.rows()});
        comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
            auto options = whole.options;
            options.threads = 1;
            options.communicator =
                CommunicatorAccess::with_everything(CommunicatorAccess::of(std::move(transport)));
            EXPECT_TRUE(compute(whole, all, options, {0, whole.sources}, {0, whole.rows()}) == one);
        });
    }
}

/// Bytes that each rank gets of others for a plan and an execution of it.
std::vector<std::size_t> received_by(int ranks, const Whole& whole, const Arrays& all) {
    std::vector<std::size_t> out(static_cast<std::size_t>(ranks));
    comm::run_ranks(ranks, [&](std::shared_ptr<comm::Transport> transport) {
        const auto counting = std::make_shared<test::CountingTransport>(std::move(transport));
        const auto rows = range_of(whole.sources, counting->rank(), ranks, Division::even);
        auto options = whole.options;
        options.threads = 1;
        options.communicator = CommunicatorAccess::of(counting);
        (void)compute(whole, all, options, rows, rows);
        out[static_cast<std::size_t>(counting->rank())] = counting->received();
    });
    return out;
}

// Points, strengths and results of others would be 48 bytes a point, and those of three in four points are
// others'. Of points in regions a rank gets few, of scattered ones those of its leaves.
TEST(PlaneOnRanks, GetsAPartOfThePoints) {
    const auto whole = charges(4, 40, 40000);
    const std::size_t everything = 40000 * 3 / 4 * 48;
    auto all = arrays_of(whole);
    std::size_t scattered = 0;
    for (const auto bytes : received_by(4, whole, all)) scattered = std::max(scattered, bytes);
    sort_by_place(all.sources);
    std::size_t regional = 0;
    for (const auto bytes : received_by(4, whole, all)) regional = std::max(regional, bytes);
    EXPECT_LT(scattered, everything * 3 / 4);
    EXPECT_LT(regional, everything / 2);
}

TEST(PlaneOnRanks, NeedsLessMemoryARank) {
    const auto whole = charges(8, 30, 20000);
    const auto all = arrays_of(whole);
    const auto one = told(whole, all, whole.options, {0, whole.sources}, {0, whole.sources});
    comm::run_ranks(8, [&](std::shared_ptr<comm::Transport> transport) {
        const auto rows = range_of(whole.sources, transport->rank(), 8, Division::even);
        auto options = whole.options;
        options.communicator = CommunicatorAccess::of(std::move(transport));
        const auto found = told(whole, all, options, rows, rows);
        EXPECT_LT(found.report.predicted_bytes, 0.6 * one.report.predicted_bytes);
    });
}

} // namespace
} // namespace farfield
