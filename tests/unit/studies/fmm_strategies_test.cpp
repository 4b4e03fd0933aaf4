// The host's side of `farfield reproduce fmm-strategies`. Oracle: 1/r in long double, straight from the
// points. Tolerance of an order p: a source and a target in boxes two apart have their points within √0.75
// of centres that are 2 apart, so terms fall as (√3/2)^(p+1)…; where the test needs digits it takes points
// within 0.25 of the centres, whose terms fall as (0.25 + 0.25)^p/2^p = 4^−p.
#include "effort.h"
#include "studies/fmm_strategies/boxes.h"
#include "studies/fmm_strategies/problem.h"
#include "studies/fmm_strategies/real_form.h"
#include "studies/fmm_strategies/rotations.h"
#include "studies/fmm_strategies/sparse_runs.h"
#include "studies/fmm_strategies/target_slots.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

namespace farfield::strategies {
namespace {

// Charges within 0.25 of the centres of all boxes of level 2, three a box.
Charges central_charges() {
    const auto random = uniform_charges(3 * 64);
    Charges charges = random;
    for (std::size_t i = 0; i < charges.size(); ++i) {
        const auto box = box_at(static_cast<int>(i / 3), 4);
        const int index[] = {box.i, box.j, box.k};
        for (std::size_t axis = 0; axis < 3; ++axis)
            charges.xyz[3 * i + axis] =
                (index[axis] + 0.5 + (random.xyz[3 * i + axis] - 0.5) * 0.5 / std::sqrt(3.0)) / 4;
    }
    return charges;
}

// φ in a box of level 2 of all charges in boxes that are not near.
long double exact_potential(const Charges& charges, int target, const double* at) {
    long double sum = 0;
    const auto to = box_at(target, 4);
    for (std::size_t i = 0; i < charges.size(); ++i) {
        const auto from = box_at(static_cast<int>(i / 3), 4);
        if (is_near(to.i - from.i, to.j - from.j, to.k - from.k)) continue;
        long double square = 0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const long double d = static_cast<long double>(at[axis]) - charges.xyz[3 * i + axis];
            square += d * d;
        }
        sum += charges.strength[i] / std::sqrt(square);
    }
    return sum;
}

double error_of_order(int order) {
    const auto charges = central_charges();
    const auto problem = make_problem(charges, order, 2, 1);
    long double difference = 0, norm = 0;
    for (int box = 0; box < 64; ++box) {
        const auto mu = host_mu(problem, {2, box});
        const auto at = box_at(box, 4);
        const double b[] = {0.11, -0.13, 0.08};
        const double x[] = {(at.i + 0.5 + b[0]) / 4, (at.j + 0.5 + b[1]) / 4, (at.k + 0.5 + b[2]) / 4};
        const long double exact = exact_potential(charges, box, x);
        const long double is = 4 * potential_at(mu.data(), order, b[0], b[1], b[2]);
        difference += (is - exact) * (is - exact);
        norm += exact * exact;
    }
    return static_cast<double>(std::sqrt(difference / norm));
}

TEST(FmmStrategies, TheHostsLoopsGiveThePotentialOfWellSeparatedBoxes) {
    for (const int order : test::fewer() ? std::vector{2, 10} : std::vector{2, 6, 10, 14, 18})
        EXPECT_LT(error_of_order(order), 3 * std::pow(4.0, -(order + 1))) << order;
    EXPECT_GT(error_of_order(2), 1e-4); // the order is what limits it
}

TEST(FmmStrategies, NothingOverflowsAFloat) {
    const auto charges = central_charges();
    for (const int order : {2, 10, 18}) {
        const auto problem = make_problem(charges, order, 2, 1);
        double largest = 0, least = 1;
        for (const auto& value : problem.operators)
            largest = std::max({largest, std::abs(value.re), std::abs(value.im)});
        for (int l = 0; l <= 2 * order;
             ++l) // the largest of a degree: the least of these is no zero in float
            for (int op = 0; op < offsets; ++op) {
                if (problem.op(op)[0].re == 0.0) continue;
                double of_degree = 0;
                for (int m = 0; m <= l; ++m) {
                    const auto& value = problem.op(op)[half_place(l, m)];
                    of_degree = std::max({of_degree, std::abs(value.re), std::abs(value.im)});
                }
                least = std::min(least, of_degree);
            }
        EXPECT_LT(largest, 1e9) << order;
        EXPECT_GT(least, 1e-30) << order;
    }
}

TEST(FmmStrategies, TheRealMatrixIsTheComplexLoop) {
    const auto problem = make_problem(uniform_charges(5000), 7, 3, 1);
    const LevelBox target{3, box_id({3, 0, 5}, 8)};
    const auto exact = host_mu(problem, target);
    const int size = real_size(7);
    std::vector<double> sum(static_cast<std::size_t>(size), 0.0);
    for (int n = 0; n < neighbours; ++n) {
        const auto found = neighbour_of({3, 0, 5}, n, 8);
        if (found.source < 0) continue;
        const auto* omega = problem.omega_of(level_begin(3) + found.source);
        for (int row = 0; row < size; ++row)
            for (int column = 0; column < size; ++column)
                sum[static_cast<std::size_t>(row)] +=
                    matrix_entry(problem.op(found.op), row, column) * real_part(omega, column);
    }
    for (int row = 0; row < size; ++row)
        EXPECT_NEAR(sum[static_cast<std::size_t>(row)], real_part(exact.data(), row),
                    1e-12 * std::abs(exact[0].re) + 1e-12)
            << row;
}

TEST(FmmStrategies, RotationsGiveTheSameAsTheLoops) {
    for (const int order : {2, 9, 18}) {
        const auto problem = make_problem(uniform_charges(500), order, 2, 1);
        const auto tables = make_rotations(order);
        const std::vector<LevelBox> boxes{{2, box_id({0, 3, 1}, 4)}, {2, box_id({2, 1, 2}, 4)}};
        std::vector<Moment> mu(64 * static_cast<std::size_t>(half_size(order)));
        for (const auto& target : boxes) {
            std::vector<double> sum(static_cast<std::size_t>(real_size(order)), 0.0), omega(sum);
            for (int n = 0; n < neighbours; ++n) {
                const auto found = neighbour_of(box_at(target.box, 4), n, 4);
                if (found.source < 0) continue;
                for (int place = 0; place < real_size(order); ++place)
                    omega[static_cast<std::size_t>(place)] = real_part(problem.omega_of(found.source), place);
                rotated_operation(tables, found.op, omega.data(), sum.data());
            }
            for (int place = 0; place < real_size(order); ++place) {
                const auto term = real_term(place);
                auto& value =
                    mu[static_cast<std::size_t>(target.box * half_size(order) + half_place(term.l, term.m))];
                (term.imaginary ? value.im : value.re) = sum[static_cast<std::size_t>(place)];
            }
        }
        EXPECT_LT(error_of(problem, mu, boxes, host_mu(problem, boxes, 1)), 1e-12) << order;
    }
}

// What groups of lanes have, all together, is each (box, n, l, m, j) once, in 32 bits.
TEST(FmmStrategies, GroupsOfLanesCoverTheLoopsOnce) {
    for (const int order : {1, 2, 5})
        for (const bool parallel_j : {false, true}) {
            std::vector<std::uint64_t> seen;
            const auto groups = loop_groups(2, order, parallel_j);
            for (std::uint32_t group = 0; group < groups; ++group) {
                const auto at = loop_index(group, order, parallel_j);
                EXPECT_TRUE(at.box < 64 && at.n < neighbours && at.l <= order && at.m <= at.l && at.m >= 0);
                std::uint64_t number = 0; // below 256 each
                for (const int part : {at.box, at.n, at.l, at.m, at.j})
                    number = 256 * number + static_cast<std::uint64_t>(part);
                seen.push_back(number);
            }
            std::sort(seen.begin(), seen.end());
            seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
            EXPECT_EQ(seen.size(), groups);
        }
    EXPECT_LT(loop_groups(4, most_order, true), std::uint64_t{1} << 32U);
    for (int t = 0; t < half_size(2 * most_order); ++t) {
        const auto at = degree_at(t);
        EXPECT_TRUE(half_place(at.l, at.m) == t && at.m >= 0 && at.m <= at.l);
    }
}

// 216 neighbours of a box inside, of which 27 are near; counted one by one on small levels.
TEST(FmmStrategies, TranslationsAreThoseBetweenBoxesThatAreNotNear) {
    for (int level = 2; level <= 4; ++level) {
        std::int64_t count = 0;
        const int dim = boxes_an_axis(level);
        for (int box = 0; box < boxes_of_level(level); ++box) {
            int of_box = 0;
            for (int n = 0; n < neighbours; ++n) of_box += neighbour_of(box_at(box, dim), n, dim).source >= 0;
            EXPECT_LE(of_box, 189);
            count += of_box;
        }
        EXPECT_EQ(count, translations_of_level(level));
    }
    EXPECT_EQ(boxes_of_depth(4), 64 + 512 + 4096);
}

TEST(FmmStrategies, SlotsHaveEveryBoxOnceAndOneOctantATile) {
    const auto slots = target_slots(3);
    std::set<int> seen;
    for (std::size_t n = 0; n < slots.size(); ++n) {
        if (slots[n].level == 0) continue;
        const auto& first = slots[n - n % tile_targets];
        EXPECT_TRUE(seen.insert(slots[n].global()).second);
        for (int k = 0; k < neighbours; ++k)
            if (const auto found = source_of(slots[n], k); found.source >= 0) {
                EXPECT_EQ(found.op, operator_of(first, k));
            }
    }
    EXPECT_EQ(static_cast<int>(seen.size()), boxes_of_depth(3));
}

// Where every box holds a point, a sparse tree has the pairs of the dense one, and the same sum.
TEST(FmmStrategies, ASparseTreeIsTheDenseOneWithoutEmptyBoxes) {
    const auto charges = uniform_charges(20000);
    const auto dense = make_problem(charges, 3, 3, 1);
    const auto sparse = make_sparse(charges, 3, 3, 1);
    ASSERT_EQ(static_cast<int>(sparse.boxes()), boxes_of_depth(3));
    EXPECT_EQ(static_cast<std::int64_t>(sparse.source.size()), translations_of_depth(3));
    // boxes in another order: compare the sums of squares of µ_00
    std::vector<std::size_t> boxes(sparse.boxes());
    for (std::size_t n = 0; n < boxes.size(); ++n) boxes[n] = n;
    const auto mu = host_sparse(sparse, boxes, 1);
    std::vector<double> is, should;
    for (std::size_t n = 0; n < boxes.size(); ++n) is.push_back(mu[n * 10].re);
    for (const auto& box : sample_boxes(3, 512)) should.push_back(host_mu(dense, box)[0].re);
    std::sort(is.begin(), is.end());
    std::sort(should.begin(), should.end());
    ASSERT_EQ(is.size(), should.size());
    for (std::size_t n = 0; n < is.size(); ++n) EXPECT_NEAR(is[n], should[n], 1e-10);
}

} // namespace
} // namespace farfield::strategies
