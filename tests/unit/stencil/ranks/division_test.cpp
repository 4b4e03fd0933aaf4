// Blocks of ranks, and what goes between them: pure functions, no messages.
#include "stencil/runtime/ranks/exchange_plan.h"
#include "stencil/runtime/ranks/part.h"
#include "unit/stencil/compiled.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace farfield::stencil;
using namespace farfield::stencil::ranks;
using farfield::testing::Compiled;

std::vector<std::int64_t> alike(const ir::Shape& shape) {
    return std::vector<std::int64_t>(static_cast<std::size_t>(shape[1] * shape[2]), shape[0]);
}

std::array<int, 3> parts_of(const ir::Shape& shape, int rank, int ranks) {
    return smallest_surface(shape, rank, ranks, shape);
}

TEST(Division, HasTheSmallestSurface) {
    EXPECT_EQ(parts_of({100, 80, 60}, 3, 1), (std::array{1, 1, 1}));
    EXPECT_EQ(parts_of({100, 80, 80}, 3, 4), (std::array{1, 2, 2}));
    EXPECT_EQ(parts_of({100, 10, 1000}, 3, 4), (std::array{1, 1, 4}));
    EXPECT_EQ(parts_of({100, 1000, 10}, 3, 4), (std::array{1, 4, 1}));
    EXPECT_EQ(parts_of({100, 60, 90}, 3, 6), (std::array{1, 2, 3}));
    EXPECT_EQ(parts_of({100, 90, 60}, 3, 6), (std::array{1, 3, 2}));
    EXPECT_EQ(parts_of({100, 50, 50}, 3, 7), (std::array{1, 1, 7}));
    EXPECT_EQ(parts_of({100, 50, 3}, 3, 7), (std::array{1, 7, 1}));
    EXPECT_EQ(parts_of({100, 3, 3}, 3, 7), (std::array{1, 2, 3})); // seven do not fit, six do
    EXPECT_EQ(parts_of({100, 80, 1}, 2, 7), (std::array{1, 7, 1}));
    EXPECT_EQ(parts_of({100, 3, 1}, 2, 7), (std::array{1, 3, 1}));
    EXPECT_EQ(parts_of({100, 1, 1}, 1, 7), (std::array{7, 1, 1}));
}

// The surface of all ways to cut, counted cell by cell.
TEST(Division, NoOtherBlocksHaveLess) {
    for (const ir::Shape shape : {ir::Shape{4, 12, 12}, ir::Shape{3, 24, 6}, ir::Shape{5, 7, 11}})
        for (int ranks = 1; ranks <= 8; ++ranks) {
            const auto surface = [&](const std::vector<ir::CellBox>& blocks) {
                const auto owner = [&](std::int64_t y, std::int64_t z) {
                    for (std::size_t r = 0; r < blocks.size(); ++r)
                        if (y >= blocks[r].first[1] && y < blocks[r].last[1] && z >= blocks[r].first[2] &&
                            z < blocks[r].last[2])
                            return r;
                    return blocks.size();
                };
                std::int64_t faces = 0;
                for (std::int64_t z = 0; z < shape[2]; ++z)
                    for (std::int64_t y = 0; y < shape[1]; ++y) {
                        if (y + 1 < shape[1] && owner(y, z) != owner(y + 1, z)) faces += shape[0];
                        if (z + 1 < shape[2] && owner(y, z) != owner(y, z + 1)) faces += shape[0];
                    }
                return faces;
            };
            const auto found = surface(divide(shape, 3, ranks, alike(shape)).blocks);
            for (int planes = 1; planes <= ranks; ++planes) {
                if (ranks % planes != 0 || planes > shape[2] || ranks / planes > shape[1]) continue;
                const int rows = ranks / planes;
                std::vector<ir::CellBox> blocks;
                for (int k = 0; k < planes; ++k)
                    for (int j = 0; j < rows; ++j)
                        blocks.push_back(
                            {{0, shape[1] * j / rows, shape[2] * k / planes},
                             {shape[0], shape[1] * (j + 1) / rows, shape[2] * (k + 1) / planes}});
                EXPECT_LE(found, surface(blocks)) << ranks << " ranks in " << rows << " by " << planes;
            }
        }
}

TEST(Division, HasEachCellOnce) {
    for (const auto& [shape, rank] : {std::pair(ir::Shape{9, 1, 1}, 1), std::pair(ir::Shape{200, 1, 1}, 1),
                                      std::pair(ir::Shape{5, 7, 1}, 2), std::pair(ir::Shape{5, 2, 1}, 2),
                                      std::pair(ir::Shape{3, 4, 6}, 3), std::pair(ir::Shape{2, 1, 2}, 3)})
        for (int ranks = 1; ranks <= 9; ++ranks) {
            const auto division = divide(shape, rank, ranks, alike(shape), 64);
            ASSERT_EQ(division.blocks.size(), static_cast<std::size_t>(ranks));
            std::int64_t cells = 0;
            for (std::size_t a = 0; a < division.blocks.size(); ++a) {
                cells += division.blocks[a].count();
                if (rank == 1 && !division.blocks[a].empty()) {
                    EXPECT_EQ(division.blocks[a].first[0] % 64, 0);
                }
                for (std::size_t b = 0; b < a; ++b)
                    EXPECT_TRUE(intersection(division.blocks[a], division.blocks[b]).empty());
            }
            EXPECT_EQ(cells, shape[0] * shape[1] * shape[2]);
        }
}

// Work in one corner alone: no rank is left without.
TEST(Division, EmptyCornersCostNothing) {
    const ir::Shape shape{10, 40, 40};
    std::vector<std::int64_t> costs(1600, 0);
    for (std::int64_t z = 0; z < 20; ++z)
        for (std::int64_t y = 0; y < 20; ++y) costs[static_cast<std::size_t>(y + 40 * z)] = 10;
    const auto division = divide(shape, 3, 4, costs);
    for (const auto& block : division.blocks) {
        std::int64_t work = 0;
        for (auto z = block.first[2]; z < block.last[2]; ++z)
            for (auto y = block.first[1]; y < block.last[1]; ++y)
                work += costs[static_cast<std::size_t>(y + 40 * z)];
        EXPECT_EQ(work, 1000);
    }
}

constexpr auto two_fields = R"(grid g[x: 8, y: 24]
field u, v on g : double
field w on g : float, double-buffered = x
boundary w: periodic
update first on interior: u = 0.4*u + 0.1*v[y-1]
update second on interior: v = 0.4*v + 0.1*u[y+2] - 0.1*u
update third: w = 0.5*w[y-1]
step: first, second, third
)";

TEST(Halos, AreAsWideAsReads) {
    const Compiled program(two_fields);
    const auto& p = *program.program();
    const auto halos = halos_of(p, 1);
    const auto width = [&](const char* name) {
        const auto& found = halos.buffers[static_cast<std::size_t>(farfield::testing::field_of(p, name))];
        EXPECT_EQ(found.low[0] + found.high[0] + found.low[2] + found.high[2], 0);
        return std::array{found.low[1], found.high[1]};
    };
    // `second` reads u two rows up, so `first` computes these as well, of v from one row below on.
    EXPECT_EQ(width("u"), (std::array<std::int64_t, 2>{0, 2}));
    EXPECT_EQ(width("v"), (std::array<std::int64_t, 2>{1, 1}));
    EXPECT_EQ(width("w"), (std::array<std::int64_t, 2>{1, 0}));
    EXPECT_EQ(halos.kernels[0].low[1], 0);
    EXPECT_EQ(halos.kernels[0].high[1], 2);
    const auto two = halos_of(p, 2);
    EXPECT_EQ(two.buffers[static_cast<std::size_t>(farfield::testing::field_of(p, "u"))].high[1],
              3); // v of the row above, and two
    EXPECT_EQ(two.buffers[static_cast<std::size_t>(farfield::testing::field_of(p, "w"))].low[1], 2);
}

TEST(Halos, EndWithTheGridOrComeInAgain) {
    const ir::CellBox block{{0, 0, 0}, {8, 4, 1}};
    const Width rim{{0, 2, 0}, {0, 3, 0}};
    EXPECT_EQ(grown(block, rim, {8, 24, 1}, {}), (std::vector<ir::CellBox>{{{0, 0, 0}, {8, 7, 1}}}));
    EXPECT_EQ(grown(block, rim, {8, 24, 1}, {false, true, false}),
              (std::vector<ir::CellBox>{{{0, 0, 0}, {8, 7, 1}}, {{0, 22, 0}, {8, 24, 1}}}));
    EXPECT_EQ(grown(block, rim, {8, 8, 1}, {false, true, false}),
              (std::vector<ir::CellBox>{{{0, 0, 0}, {8, 8, 1}}}));
    EXPECT_TRUE(grown({}, rim, {8, 24, 1}, {}).empty());
}

TEST(ExchangePlan, SaysWhoSendsWhatToWhom) {
    const Compiled program(two_fields);
    const auto& p = *program.program();
    const auto divisions = divide(p, 3);
    ASSERT_EQ(divisions[0].blocks[1], (ir::CellBox{{0, 8, 0}, {8, 16, 1}}));
    const auto halos = halos_of(p, 1);
    const int u = farfield::testing::field_of(p, "u"), v = farfield::testing::field_of(p, "v"),
              w = farfield::testing::field_of(p, "w");
    const auto plan = plan_exchange(p, divisions, halos, 1);
    ASSERT_EQ(plan.receives.size(), 2U);
    EXPECT_EQ(plan.receives[0], (Transfer{0, {{v, {{0, 7, 0}, {8, 8, 1}}}, {w, {{0, 7, 0}, {8, 8, 1}}}}}));
    EXPECT_EQ(plan.receives[1],
              (Transfer{2, {{u, {{0, 16, 0}, {8, 18, 1}}}, {v, {{0, 16, 0}, {8, 17, 1}}}}}));
    // w is periodic: rank 0 looks at the last row.
    const auto of_first = plan_exchange(p, divisions, halos, 0);
    ASSERT_EQ(of_first.receives.size(), 2U);
    EXPECT_NE(std::find(of_first.receives[1].pieces.begin(), of_first.receives[1].pieces.end(),
                        BufferCells{w, {{0, 23, 0}, {8, 24, 1}}}),
              of_first.receives[1].pieces.end());
}

// Whatever the ranks: what one sends is what the other expects, and with it a rank has all that it needs.
TEST(ExchangePlan, IsTheSameOnBothSidesAndComplete) {
    const Compiled program(two_fields);
    const auto& p = *program.program();
    for (int ranks = 1; ranks <= 30; ranks += ranks < 8 ? 1 : 11)
        for (const int steps : {1, 2, 5}) {
            const auto divisions = divide(p, ranks);
            const auto halos = halos_of(p, steps);
            std::set<std::tuple<int, int>> sent;
            std::set<std::tuple<int, int>> received;
            for (int rank = 0; rank < ranks; ++rank) {
                const auto plan = plan_exchange(p, divisions, halos, rank);
                for (const auto& transfer : plan.sends) {
                    EXPECT_TRUE(sent.emplace(rank, transfer.peer).second);
                    EXPECT_EQ(transfer.pieces, pieces_between(p, divisions, halos, rank, transfer.peer));
                }
                for (const auto& transfer : plan.receives)
                    EXPECT_TRUE(received.emplace(transfer.peer, rank).second);
                for (std::size_t b = 0; b < p.buffers.size(); ++b) {
                    if (!p.buffers[b].written) continue;
                    const auto& block = divisions[0].blocks[static_cast<std::size_t>(rank)];
                    std::int64_t needed = 0;
                    for (const auto& box : grown(block, halos.buffers[b], p.grids[0].shape, halos.wraps[0]))
                        needed += box.count();
                    std::int64_t there = block.count();
                    for (const auto& transfer : plan.receives)
                        for (const auto& piece : transfer.pieces)
                            if (piece.buffer == static_cast<int>(b)) there += piece.cells.count();
                    EXPECT_EQ(there, needed) << p.buffers[b].name << " on rank " << rank << " of " << ranks;
                }
            }
            EXPECT_EQ(sent, received);
        }
}

TEST(Part, HasTheCellsOfItsBlockAndRim) {
    const Compiled program(two_fields);
    const auto& p = *program.program();
    const auto divisions = divide(p, 3);
    const auto part = part_of(p, divisions, halos_of(p, 1), 1).program;
    for (const auto& kernel : part->kernels) EXPECT_EQ(kernel.cells->bounds().last[1], 18) << kernel.name;
    EXPECT_FALSE(ir::holds_row(*part, 0, 4));
    EXPECT_TRUE(ir::holds_row(*part, 0, 12));
    EXPECT_TRUE(ir::holds_row(p, 0, 4));
    std::int64_t held = 0;
    for (std::int64_t row = 0; row < 24; ++row) held += ir::holds_row(*part, 0, row) ? 1 : 0;
    EXPECT_EQ(held, 2 + 8 + 4); // two beyond what kernels compute
}

TEST(Part, LeavesOutWhatHasNoCellsThere) {
    const Compiled program("grid g[x: 8, y: 24]\nfield u, w on g\nrecord low = u at (3, 2)\n"
                           "record all = sum of u\nrecord high = w at (3, 20)\n"
                           "update grow: w += u\nsource light at (4, 1): u += sin(t)\nstep: grow, light\n");
    const auto& p = *program.program();
    const auto divisions = divide(p, 3);
    const auto records_of = [&](int rank) { return part_of(p, divisions, halos_of(p, 1), rank).records; };
    EXPECT_EQ(records_of(0), (std::vector<int>{0, 1}));
    EXPECT_EQ(records_of(1), (std::vector<int>{1}));
    EXPECT_EQ(records_of(2), (std::vector<int>{1, 2}));
    const auto kernels_of = [&](int rank) {
        return part_of(p, divisions, halos_of(p, 1), rank).program->kernels.size();
    };
    EXPECT_EQ(kernels_of(0), 2);
    EXPECT_EQ(kernels_of(1), 1);
}

} // namespace
