// Sums over periodic boxes by open sums and their images, on ranks.
#include "on_ranks.h"

#include "sums/lattice/images/image_operator.h"
#include "sums/lattice/images/soft_operator.h"

namespace farfield {
namespace {

using test::expect_bits_of_one;

/// Normal points reach beyond the box, and are wrapped into it.
SumOptions of_box(Method method, std::array<double, 3> period) {
    return {.kernel = Kernel::coulomb,
            .method = method,
            .period = period,
            .background = Background::uniform,
            .tolerance = method == Method::fmm ? 1e-4 : 0.0};
}

TEST(SumOfImagesOnRanks, OfPairsHasTheBitsOfOne) {
    expect_bits_of_one({.options = of_box(Method::direct, {3.0, 4.0, 5.0}), .sources = 900});
    auto options = of_box(Method::direct, {4.0, 4.0, 4.0});
    options.precision = Precision::mixed;
    expect_bits_of_one({.options = options, .sources = 600});
}

TEST(SumOfImagesOnRanks, InVacuumHasTheBitsOfOne) {
    for (const auto method : {Method::direct, Method::fmm}) {
        auto options = of_box(method, {4.0, 4.0, 4.0});
        options.background = Background::none;
        options.boundary = Boundary::vacuum;
        expect_bits_of_one({.options = options, .sources = 700, .targets = 500, .neutral = true});
    }
}

TEST(SumOfImagesOnRanks, OfFewPointsHasTheBitsOfOne) {
    for (const auto method : {Method::direct, Method::fmm})
        for (const std::int64_t n : {1, 3, 257}) {
            auto options = of_box(method, {3.0, 3.0, 3.0});
            if (n < 4) options.tolerance = 0.0; // of one charge the field is its rounding
            expect_bits_of_one({.options = options, .sources = n});
            for (const double softening : {0.0, 0.3}) {
                options.softening = softening;
                options.tolerance = 1e-3;
                if (n > 100) expect_bits_of_one({.options = options, .sources = n, .targets = 2});
            }
        }
}

TEST(SumOfImagesOnRanks, OfTheFastMultipoleMethodHasTheBitsOfOne) {
    expect_bits_of_one({.options = of_box(Method::fmm, {4.0, 4.0, 4.0}), .sources = 4000});
    expect_bits_of_one({.options = of_box(Method::fmm, {4.0, 4.0, 4.0}), .sources = 3000, .targets = 2000});
}

TEST(SumOfImagesOnRanks, OfOpenAxesHasTheBitsOfOne) {
    for (const auto method : {Method::direct, Method::fmm})
        for (const auto& period : {std::array{4.0, 4.0, 0.0}, std::array{0.0, 5.0, 0.0}}) {
            auto options = of_box(method, period);
            options.background = Background::none;
            expect_bits_of_one({.options = options, .sources = 1200, .neutral = true});
        }
}

TEST(SumOfImagesOnRanks, OfSoftenedChargesHasTheBitsOfOne) {
    for (const auto method : {Method::direct, Method::fmm}) {
        auto options = of_box(method, {4.0, 4.0, 4.0});
        options.softening = 0.3;
        options.tolerance = 1e-4;
        expect_bits_of_one({.options = options, .sources = 1200});
    }
}

// Made together they are those of one process. Sums keep them: those above find what one has made.
TEST(OperatorsOnRanks, OfFarImagesHaveTheBitsOfOne) {
    const auto closed = image_grid({1.0, 1.7, 1.2}, {}, {1.0, 1.7, 1.2}, 0.6, 1);
    const auto flat = image_grid({1.0, 0.0, 1.4}, {}, {1.0, 0.6, 1.4}, 0.5, 1);
    for (const auto& grid : {closed, flat}) {
        const ImageOperator one(grid, 6, 2);
        const SoftOperator soft(grid, SoftKernel{0.3}, {.value = 1e-3, .gradient = 1e-3}, 2);
        for (const int ranks : {2, 5})
            comm::run_ranks(ranks, [&](comm::Transport& own) {
                const ImageOperator mine(grid, 6, 1, &own);
                const SoftOperator my_soft(grid, SoftKernel{0.3}, {.value = 1e-3, .gradient = 1e-3}, 1, &own);
                ASSERT_EQ(my_soft.powers().degree(), soft.powers().degree());
                for (int target = 0; target < grid.count(); ++target)
                    for (int source = 0; source < grid.count(); ++source) {
                        EXPECT_EQ(mine.sums(target, source).real, one.sums(target, source).real);
                        EXPECT_EQ(mine.sums(target, source).imag, one.sums(target, source).imag);
                        const auto a = my_soft.series(target, source), b = soft.series(target, source);
                        EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end()));
                    }
            });
    }
}

// Where some ranks have the operator of an earlier sum, all make it once more.
TEST(OperatorsOnRanks, AreMadeByAllWhereSomeHaveThem) {
    const auto grid = image_grid({1.0, 1.1, 1.3}, {}, {1.0, 1.1, 1.3}, 0.6, 1);
    const auto goal = SoftGoal{.value = 1e-2, .gradient = 1e-2};
    comm::run_ranks(3, [&](comm::Transport& own) {
        const auto kept = image_operator(grid, 4, 1, &own);
        EXPECT_EQ(image_operator(grid, 4, 1, &own)->sums(0, 1).real, kept->sums(0, 1).real);
        const auto soft = soft_operator(grid, SoftKernel{0.2}, goal, 1, &own);
        EXPECT_EQ(soft_operator(grid, SoftKernel{0.2}, goal, 1, &own)->powers().degree(),
                  soft->powers().degree());
    });
}

// Ranks hold all points of a box, and parts of what open sums have.
TEST(SumOfImagesOnRanks, PredictsMemory) {
    const auto points = test::numbers(3 * 600, 1);
    auto options = of_box(Method::fmm, {4.0, 4.0, 4.0});
    options.tolerance = 1e-3;
    const auto predicted = [&](const SumOptions& with, test::Range rows) {
        SumPlan plan(matrix_view(test::part(points, rows.first, rows.second, 3), 3), with);
        const auto n = static_cast<std::size_t>(rows.second - rows.first);
        test::Values strengths(n, 1.0), potential(n);
        plan.execute(std::span<const double>(strengths), {.potential = std::span(potential)});
        return plan.report().predicted_bytes;
    };
    const double one = predicted(options, {0, 600});
    comm::run_ranks(4, [&](std::shared_ptr<comm::Transport> transport) {
        const auto rows = test::range_of(600, transport->rank(), 4, test::Division::even);
        auto own = options;
        own.communicator = CommunicatorAccess::of(std::move(transport));
        const double of_rank = predicted(own, rows);
        EXPECT_LT(of_rank, one);
        EXPECT_GT(of_rank, one / 4.0);
    });
}

TEST(SumOfImagesOnRanks, StopsWhereOneRankIsAsked) {
    for (const auto method : {Method::direct, Method::fmm})
        EXPECT_EQ(test::interrupted_of_three({.options = of_box(method, {4.0, 4.0, 4.0}), .sources = 6000}),
                  3);
}

} // namespace
} // namespace farfield
