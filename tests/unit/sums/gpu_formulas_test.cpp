// What fast multipole sums on a GPU share with the host: walks from one cell, plain operators, and those for
// tensor cores. The walks give the lists of near_lists.h; translations of a point's expansion give 1/r.
#include "sums/fmm/plain_far.h"
#include "sums/fmm/tensor_operators.h"
#include "sums/tree/near_walk.h"
#include "sums/tree/octree.h"
#include "sums/tree/tree_share.h"
#include "sums/treecode/group_rule.h"
#include "unit/sums/plain_products.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace farfield {
namespace {

using test::dot;
using test::functions_at;
using test::offset_of;
using test::Point;
using test::product;
using test::squared_distance;

/// An octree's cells as a view has them, with targets of a share.
struct FlatTree {
    explicit FlatTree(const Octree& tree, const TreeShare& share = {}) {
        const auto rows = share.rows_of(static_cast<int>(tree.targets().from.size()));
        for (const auto& cell : tree.cells()) {
            places.push_back({{cell.index[0], cell.index[1], cell.index[2]}, cell.level});
            parents.push_back(cell.parent);
            children.insert(children.end(), cell.children.begin(), cell.children.end());
            divided.push_back(cell.leaf ? 0 : 1);
            sources.push_back(cell.sources);
            all_targets.push_back(cell.targets);
            targets.push_back(targets_in_share(cell.targets, cell.leaf, rows));
            const auto near = tree.neighbours(static_cast<std::int32_t>(parents.size()) - 1);
            neighbours.insert(neighbours.end(), near.begin(), near.end());
        }
        view.places = places.data();
        view.parents = parents.data();
        view.children = children.data();
        view.divided = divided.data();
        view.sources = sources.data();
        view.targets = targets.data();
        view.all_targets = all_targets.data();
        view.neighbours = neighbours.data();
        view.separation = tree.shape().separation;
        view.coarse = tree.shape().coarse;
        view.self = tree.self();
        view.period = tree.shape().period;
        view.shared = !share.is_whole();
    }

    std::vector<CellPlace> places;
    std::vector<std::int32_t> parents, children, divided, neighbours;
    std::vector<BlockRange> sources, targets, all_targets;
    TreeView view;
};

using Pairs = std::multiset<std::pair<std::int32_t, std::int32_t>>;

Pairs distinct(const Pairs& of) {
    Pairs out;
    std::unique_copy(of.begin(), of.end(), std::inserter(out, out.end()));
    return out;
}

/// What the walks of all cells find.
void add_lists(const Octree& tree, const FlatTree& flat, std::int32_t few, Pairs& direct, Pairs& multipoles,
               Pairs& taken, Pairs& above) {
    for (std::int32_t cell = 0; cell < static_cast<std::int32_t>(tree.cells().size()); ++cell) {
        const auto add = [cell](Pairs& to) {
            return [cell, &to](std::int32_t other) { to.emplace(cell, other); };
        };
        walk_above(flat.view, cell, few, add(above), add(taken));
        if (!tree.cell(cell).leaf) continue;
        for (int slot = 0; slot < flat.view.neighbour_count(); ++slot)
            if (const auto near = flat.view.neighbour(cell, slot); near != TreeView::none)
                walk_below(flat.view, cell, near, few, add(direct), add(multipoles));
    }
}

/// @param parts  of the targets, whose lists together are those of all
void expect_same_lists(bool self, int separation, std::int32_t few, int parts, double period = 0.0) {
    std::mt19937 engine(3);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    const auto points = [&](int n) {
        std::vector<double> out;
        for (int i = 0; i < n; ++i) {
            const double scale = std::pow(10.0, -4.0 * uniform(engine)); // dense in a corner
            for (int axis = 0; axis < 3; ++axis) out.push_back(scale * uniform(engine));
        }
        return out;
    };
    TreeShape shape;
    shape.most = 8;
    shape.separation = separation;
    shape.period = period;
    const auto sources = points(2000);
    const auto targets = self ? std::vector<double>() : points(3000);
    const Octree tree(sources, targets, self, shape, 1);
    const auto lists = near_lists(tree, few);
    Pairs direct, multipoles, taken, above;
    std::size_t targets_of_parts = 0;
    for (int part = 0; part < parts; ++part) {
        const FlatTree flat(tree, {part, parts});
        add_lists(tree, flat, few, direct, multipoles, taken, above);
        for (std::size_t c = 0; c < tree.cells().size(); ++c)
            if (tree.cells()[c].leaf) targets_of_parts += static_cast<std::size_t>(flat.targets[c].size());
    }
    EXPECT_EQ(targets_of_parts, tree.targets().from.size());
    direct.insert(above.begin(), above.end());
    Pairs expected, expected_multipoles, expected_taken;
    const auto each = [](const BlockRows& rows, const auto& visit) {
        for (std::size_t row = 0; row + 1 < rows.first.size(); ++row)
            for (auto k = rows.first[row]; k < rows.first[row + 1]; ++k)
                visit(row, rows.partners[static_cast<std::size_t>(k)]);
    };
    each(lists.direct, [&](std::size_t row, std::int32_t partner) {
        const auto a = lists.leaves[row];
        const auto b = lists.leaves[static_cast<std::size_t>(partner)];
        expected.emplace(a, b);
        if (self) expected.emplace(b, a);
    });
    EXPECT_EQ(lists.images.partners.empty(), period == 0.0);
    each(lists.images, [&](std::size_t row, std::int32_t partner) {
        expected.emplace(lists.leaves[row], lists.leaves[static_cast<std::size_t>(partner)]);
    });
    each(lists.multipoles,
         [&](std::size_t row, std::int32_t cell) { expected_multipoles.emplace(lists.leaves[row], cell); });
    each(lists.sources, [&](std::size_t row, std::int32_t leaf) {
        expected_taken.emplace(static_cast<std::int32_t>(row), leaf);
    });
    EXPECT_EQ(direct, expected);
    EXPECT_EQ(multipoles, expected_multipoles);
    if (parts > 1) // cells above leaves of two parts take points for both
        EXPECT_EQ(distinct(taken), distinct(expected_taken));
    else
        EXPECT_EQ(taken, expected_taken);
    EXPECT_EQ(expected_multipoles.empty(), few == all_points); // something was compared
}

TEST(NearWalk, GivesTheListsOfTheTree) {
    for (const bool self : {true, false})
        for (const int separation : {1, 2})
            for (const std::int32_t few : {0, 6, all_points})
                for (const int parts : {1, 2, 5}) {
                    expect_same_lists(self, separation, few, parts);
                    expect_same_lists(self, separation, few, parts, 1.0);
                }
}

// Points 0.3 widths from their centres: the nearest offset leaves 2·(0.3/1.7)^(p + 1) of 1/1.4.
TEST(PlainOperators, TranslateAPointsExpansionFromEverySender) {
    const Point v{0.2, -0.1, 0.2};
    const Point u{-0.1, 0.25, 0.1};
    for (const int coarse : {1, 5}) {
        FmmOrder order;
        order.order = 14;
        order.grading = 0.0;
        order.coarse = coarse;
        const PlainOperators<double> made(order, 1);
        const auto multipole = functions_at(made, v);
        const auto at = functions_at(made, u);
        for (int group = 0; group <= coarse_group; ++group) {
            int served = 0;
            for (auto s = made.first_sender[group]; s < made.first_sender[group + 1]; ++s, ++served) {
                const auto& sender = made.senders[static_cast<std::size_t>(s)];
                const double r2 = squared_distance(u, v, offset_of(sender, group));
                const auto local = product(made, made.across[static_cast<std::size_t>(sender.matrix)],
                                           sender.mirror, multipole);
                EXPECT_NEAR(dot(local, at), 1.0 / std::sqrt(r2), 2e-11);
            }
            EXPECT_EQ(served, group < coarse_group ? 189 : coarse == 1 ? 0 : 9 * 9 * 9 - 27);
        }
    }
}

void expect_places(const PlainOperators<float>& plain, const TensorOperators& tensor) {
    for (int octant = 0; octant < 8; ++octant) {
        const auto first = plain.first_sender[octant];
        ASSERT_EQ(tensor.first_sender[octant], first);
        ASSERT_EQ(plain.first_sender[octant + 1] - first, 189);
        for (auto s = first; s < plain.first_sender[octant + 1]; ++s) {
            // The place of a sender is that of its octant beneath the target's parent or one beside it.
            const auto place = plain.senders[static_cast<std::size_t>(s)].place;
            const int slot = place / 8;
            const int target = tensor_block::place(0, 2, 1, 3);
            EXPECT_EQ(
                target + tensor.senders[static_cast<std::size_t>(s)].shift,
                tensor_block::place(place % 8, 2 + slot % 3 - 1, 1 + slot / 3 % 3 - 1, 3 + slot / 9 - 1));
        }
    }
}

void expect_rounded(const PlainOperators<float>& plain, const TensorOperators& tensor) {
    double largest = 0.0;
    for (int level = 0; level < tensor.levels; ++level)
        for (std::size_t s = 0; s < tensor.senders.size(); ++s) {
            const auto& sender = plain.senders[s];
            const auto& matrix =
                plain.across[static_cast<std::size_t>(plain.first_across(level) + sender.matrix)];
            const auto sign = [&](int i) {
                return plain.signs[static_cast<std::size_t>(sender.mirror * plain.stride + i)];
            };
            const auto number =
                static_cast<std::size_t>(level * tensor.matrices_a_level + tensor.senders[s].matrix);
            const auto begin = number * tensor.numbers_a_matrix();
            EXPECT_GE(tensor.sizes[number], matrix.size);
            EXPECT_LT(tensor.sizes[number], matrix.size + plain_padding);
            const float scale = tensor.scales[static_cast<std::size_t>(level)];
            for (int column = 0; column < tensor.size; ++column)
                for (int row = 0; row < tensor.size; ++row) {
                    const bool inside = row < matrix.size && column < matrix.size;
                    const float exact =
                        inside ? sign(row) * sign(column) *
                                     plain.matrices[static_cast<std::size_t>(
                                         matrix.begin + std::int64_t{column} * matrix.rows + row)]
                               : 0.0F;
                    const float got =
                        from_half_bits(tensor.fragments[begin + tensor.at(row, column)]) / scale;
                    largest = std::max(largest, std::abs(static_cast<double>(got)));
                    ASSERT_LE(std::abs(got - exact), // the least numbers are 2^−24 apart
                              std::max(std::ldexp(std::abs(exact), -11), std::ldexp(1.0F, -25) / scale));
                }
        }
    EXPECT_GT(largest, 0.0);
}

TEST(TensorOperators, AreThePlainOnesRoundedAndInPlace) {
    for (const int order : {1, 3, 4, 5, 7}) {
        FmmOrder of;
        of.order = order;
        of.m2l = M2L::matrix;
        of.grading = order == 3 || order == 7 ? 0.6 : 0.0;
        of.rounded = true;
        const auto plain = plain_operators<float>(of, 1);
        ASSERT_TRUE(has_tensor_operators(of, plain->size));
        const TensorOperators tensor(*plain);
        ASSERT_EQ(tensor.size, plain->stride);
        ASSERT_EQ(tensor.levels, 1);
        expect_places(*plain, tensor);
        expect_rounded(*plain, tensor);
    }
}

TEST(TensorOperators, OfPolynomialsHaveMatricesOfEachLevel) {
    FmmOrder of;
    of.order = 4;
    of.m2l = M2L::matrix;
    of.rounded = true;
    constexpr int levels = 4;
    const auto far = plain_far<float>(of, 0.05, levels, 0, 1);
    ASSERT_NE(far.polynomials.operators, nullptr);
    const auto& plain = *far.polynomials.operators;
    ASSERT_TRUE(has_tensor_operators(of, plain.size));
    const TensorOperators tensor(plain);
    ASSERT_EQ(tensor.levels, levels);
    expect_places(plain, tensor);
    expect_rounded(plain, tensor);
}

TEST(TensorOperators, RoundToHalfPrecision) {
    for (const float x : {1.0F, -0.333333F, 65472.0F / 2.0F, 6.2e-5F, 6.0e-5F, 1e-6F, 7e-8F, 0.0F, 1.9999F}) {
        const float got = from_half_bits(half_bits(x));
        EXPECT_LE(std::abs(got - x), std::max(std::ldexp(std::abs(x), -11), std::ldexp(1.0F, -25)));
        EXPECT_EQ(half_bits(got), half_bits(x));
    }
    EXPECT_EQ(half_bits(1.0F), 0x3c00); // IEEE 754 binary16
    EXPECT_EQ(half_bits(-2.5F), 0xc100);
    EXPECT_EQ(half_bits(std::ldexp(1.0F, -24)), 0x0001);
}

// A warp's lanes hold what PTX says of mma.m16n8k8 (PTX ISA, "Matrix fragments for mma.m16n8k8", .tf32): lane
// 4g + t has rows g and g + 8 of columns t and t + 4, which here are the columns 2t and 2t + 1.
TEST(TensorOperators, HaveEachEntryInOneLane) {
    FmmOrder of;
    of.order = 4;
    const TensorOperators tensor(*plain_operators<float>(of, 1));
    std::set<std::size_t> places;
    for (int column = 0; column < tensor.size; ++column)
        for (int row = 0; row < tensor.size; ++row) {
            const auto at = tensor.at(row, column);
            places.insert(at);
            const auto lane = at / 8 % 32;
            EXPECT_EQ(at / 4 % 2, static_cast<std::size_t>(column % 16 / 8));
            EXPECT_EQ(lane / 4, static_cast<std::size_t>(row % 8));
            EXPECT_EQ(2 * (lane % 4) + at % 4 / 2, static_cast<std::size_t>(column % 8));
            EXPECT_EQ(at % 2, static_cast<std::size_t>(row % 16 / 8));
        }
    EXPECT_EQ(places.size(), tensor.numbers_a_matrix());
}

TEST(PlainOperators, MoveBetweenParentsAndChildren) {
    FmmOrder order;
    order.order = 7;
    test::expect_moves_in_family(PlainOperators<double>(order, 1));
}

TEST(PlainOperators, DifferentiateLocalExpansions) {
    FmmOrder order;
    order.order = 6;
    test::expect_derivatives(PlainOperators<double>(order, 1));
}

// A box of few targets around a dense core would meet each of its points: on a GPU one warp would, while all
// others are done.
TEST(GroupRule, KeepsCoresOutOfTheBoxesOfOutliers) {
    constexpr int n = 20000, most = 64;
    std::mt19937 engine(5);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    std::normal_distribution<double> normal;
    for (int trial = 0; trial < 8; ++trial) {
        std::vector<double> points; // of a Plummer sphere, which has some far outside
        for (int i = 0; i < n; ++i) {
            const double radius = 1.0 / std::sqrt(std::pow(uniform(engine), -2.0 / 3.0) - 1.0);
            std::array<double, 3> x{normal(engine), normal(engine), normal(engine)};
            for (const double component : x)
                points.push_back(radius * component / std::hypot(x[0], x[1], x[2]));
        }
        TreeShape shape;
        shape.most = 24;
        const Octree tree(points, {}, true, shape, 1);
        FlatTree flat(tree, {});
        const std::int32_t root = 0;
        flat.view.coarse_cells = &root;
        std::vector<BlockRange> groups;
        const auto add = [&](const BlockRange& range) { groups.push_back(range); };
        for_groups(flat.view, TreeView::none, most, add);
        for (std::int32_t cell = 0; cell < static_cast<std::int32_t>(tree.cells().size()); ++cell)
            if (!flat.view.is_leaf(cell) && flat.targets[static_cast<std::size_t>(cell)].size() > most)
                for_groups(flat.view, cell, most, add);
        std::sort(groups.begin(), groups.end(),
                  [](const auto& a, const auto& b) { return a.begin < b.begin; });
        std::int32_t next = 0;
        int largest = 0;
        const auto& at = tree.targets();
        const auto place = [&](std::int32_t row, std::size_t axis) {
            return at.x[axis][static_cast<std::size_t>(row)];
        };
        for (const auto& group : groups) {
            EXPECT_EQ(group.begin, next);
            EXPECT_LE(group.size(), most);
            next = group.end;
            std::array<double, 3> low{}, high{};
            low.fill(HUGE_VAL);
            high.fill(-HUGE_VAL);
            for (auto row = group.begin; row < group.end; ++row)
                for (std::size_t axis = 0; axis < 3; ++axis) {
                    low[axis] = std::min(low[axis], place(row, axis));
                    high[axis] = std::max(high[axis], place(row, axis));
                }
            int inside = 0;
            for (std::int32_t row = 0; row < n; ++row) {
                bool in = true;
                for (std::size_t axis = 0; axis < 3 && in; ++axis)
                    in = low[axis] <= place(row, axis) && place(row, axis) <= high[axis];
                inside += in ? 1 : 0;
            }
            largest = std::max(largest, inside);
        }
        EXPECT_EQ(next, n);
        EXPECT_LT(largest, 500) << "trial " << trial;
    }
}

} // namespace
} // namespace farfield
