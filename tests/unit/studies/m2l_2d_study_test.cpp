// Boxes, lists, places and tables of `farfield reproduce m2l-2d`, without a GPU.
#include "studies/m2l_2d/grid.h"
#include "studies/m2l_2d/operation_counts.h"
#include "studies/m2l_2d/problem.h"
#include "studies/m2l_2d/seed_tables.h"
#include "studies/m2l_2d/whole_sums.h"
#include "studies/reproduce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>

namespace farfield::m2l2d {
namespace {

// The children of the parent's neighbours that are not near, each once.
TEST(M2l2dStudy, AListIsTheInteractionList) {
    for (int quarter = 0; quarter < quarters; ++quarter) {
        const auto child = child_of(quarter);
        EXPECT_EQ(quarter_of(child.x, child.y), quarter);
        std::set<std::pair<int, int>> is, should;
        for (int slot = 0; slot < list_size; ++slot) {
            const auto offset = offset_of(quarter, slot);
            is.insert({offset.x, offset.y});
        }
        for (int x = -2 - child.x; x <= 3 - child.x; ++x)
            for (int y = -2 - child.y; y <= 3 - child.y; ++y)
                if (std::max(std::abs(x), std::abs(y)) > 1) should.insert({x, y});
        EXPECT_EQ(is, should);
        EXPECT_EQ(is.size(), std::size_t{list_size});
    }
}

// Going back along a slot leads to where it came from; steps of parents are those of boxes.
TEST(M2l2dStudy, SlotsLeadThereAndBack) {
    for (const int number : {0, 5, 15, 16, 40, 79, 80, 200, boxes_of_depth(4) - 1}) {
        const auto box = box_at(number);
        EXPECT_EQ(number_of(box), number);
        const int quarter = quarter_of(box.x, box.y);
        for (int slot = 0; slot < list_size; ++slot) {
            const auto other = at_offset(box, offset_of(quarter, slot));
            const int its = quarter_of(other.x, other.y), back = slot_back(quarter, slot, its);
            ASSERT_TRUE(back >= 0 && back < list_size && orbit_of(back) == orbit_of(slot));
            EXPECT_EQ(number_of(at_offset(other, offset_of(its, back))), number);
            const auto step = step_of(quarter, slot);
            const int mask = parents_an_axis(box.level) - 1;
            EXPECT_EQ(step.quarter, its);
            EXPECT_EQ((box.x / 2 + step.x) & mask, other.x / 2);
            EXPECT_EQ((box.y / 2 + step.y) & mask, other.y / 2);
        }
    }
}

TEST(M2l2dStudy, CountsAreThePapers) {
    const std::int64_t counts[] = {2160, 9072, 36720, 147312, 589680, 2359152};
    for (int depth = 3; depth <= most_depth; ++depth)
        EXPECT_EQ(translations_of_depth(depth), counts[depth - 3]);
}

TEST(M2l2dStudy, GroupsHoldEveryBoxOnce) {
    for (const int depth : {2, 3, 4}) { // parents: an eighth of a group, a half, two groups
        const auto problem = make_problem(8, depth, 1);
        const auto there = in_groups(problem.field, 8, depth), back = by_boxes(there, 8, depth);
        ASSERT_EQ(back.size(), problem.field.size());
        std::size_t full = 0;
        for (const auto& value : there) full += value.re != 0.0 ? 1 : 0;
        EXPECT_EQ(full, back.size()); // none on another's place
        for (std::size_t i = 0; i < back.size(); ++i) {
            EXPECT_EQ(back[i].re, problem.field[i].re);
            EXPECT_EQ(back[i].im, problem.field[i].im);
        }
    }
}

// The tables' rates follow from their times by the paper's counts, to the three digits of the times.
TEST(M2l2dStudy, ThePapersRatesFollowFromItsTimes) {
    for (const auto& card : seeds::cards)
        for (std::size_t index = 0; index < terms_measured.size(); ++index)
            for (std::size_t size = 0; size < seeds::translations.size(); ++size) {
                const auto& row = card.rows[index][size];
                const double rate = static_cast<double>(seeds::translations[size]) / row.kernel_seconds;
                const int p = terms_measured[index];
                EXPECT_NEAR(1e-6 * rate, row.millions, 6e-3 * row.millions);
                EXPECT_NEAR(1e-9 * seeds::operations(p) * rate, row.gops, 6e-3 * row.gops);
                EXPECT_NEAR(seeds::bytes(p) * rate / (1 << 30), row.gigabytes, 7e-3 * row.gigabytes);
            }
}

// By hand: x_k = t^k a_k are p − 1 complex products (6 flop), row 0 a logarithm and p − 1 real multiples that
// are added (4), the other rows one real multiple (2), p − 1 that are added and a complex product.
TEST(M2l2dStudy, OperationsAreCountedAsWritten) {
    for (const int p : terms_measured) {
        const double others = p - 1;
        const auto count = operations_of(Variant::shared_operator, false, p);
        EXPECT_DOUBLE_EQ(count.flop, 6 * others + 6 + 4 * others + others * (2 + 4 * others + 6));
        // fused: half of a multiple that is added; of a complex product two of six
        EXPECT_DOUBLE_EQ(count.instructions, 4 * others + 4 + 2 * others + others * (2 + 2 * others + 4));
        // turns take less than half of it, fused or not
        for (const bool is_fused : {false, true})
            EXPECT_LT(operations_of(Variant::rotations, is_fused, p).instructions,
                      0.75 * operations_of(Variant::shared_operator, is_fused, p).instructions);
    }
}

TEST(M2l2dStudy, WithoutAGpuTheTablesHoldThePapersNumbers) {
    ReproduceOptions options;
    options.device.kind = DeviceKind::cpu;
    options.most_points = 2000;
    const auto study = reproduce_m2l_2d(options);
    EXPECT_EQ(study.tables.size(), 11U);
    for (const auto& table : study.tables)
        for (const auto& row : table.rows) EXPECT_EQ(row.values.size(), table.columns.size()) << row.what;
    EXPECT_EQ(study.tables[6].rows[10].values.back().value, 51.14); // p = 16, most translations, C1060
    EXPECT_EQ(study.tables[6].rows[11].values.back().value, 54.49);
}

// Parts of a whole, beside the paper's; fewer vortices than asked for make one size of two.
TEST(M2l2dStudy, WholeSumsAreSplitIntoTheirPasses) {
    ReproduceOptions options;
    options.most_points = 3000;
    options.repeats = 1;
    const WholeSums sums(options, {});
    EXPECT_EQ(sums.refusal(), "");
    const auto passes = sums.passes();
    ASSERT_EQ(passes.rows.size(), 2 + terms_measured.size());
    EXPECT_EQ(passes.rows[0].values[6].value, 95);
    EXPECT_EQ(passes.rows[1].values[6].value, 99);
    double before = 1.0;
    for (std::size_t k = 2; k < passes.rows.size(); ++k) {
        const auto& row = passes.rows[k];
        ASSERT_EQ(row.values.size(), passes.columns.size());
        const auto value = [&](std::size_t column) { return row.values[column].value.value_or(-1.0); };
        const double together = value(1) + value(2) + value(3);
        EXPECT_NEAR(value(4), 100.0 * value(1) / together, 1e-9) << row.what;
        EXPECT_NEAR(value(5), 100.0 * value(2) / together, 1e-9) << row.what;
        EXPECT_NEAR(value(6), value(4) + value(5), 1e-9) << row.what;
        EXPECT_GT(value(0), 0.0);
        EXPECT_GT(value(2), 0.0);
        EXPECT_GT(value(7), 1.0);
        const double error = row.values[0].error.value_or(1.0);
        EXPECT_LT(error, 0.1 * before) << "more terms, fewer errors";
        before = error;
    }
}

TEST(M2l2dStudy, TheBestLeafIsThatOfTheLeastTime) {
    ReproduceOptions options;
    options.most_points = 2000;
    options.repeats = 1;
    const auto leaves = WholeSums(options, {}).leaves();
    ASSERT_EQ(leaves.rows.size(), terms_measured.size());
    for (const auto& row : leaves.rows) {
        ASSERT_EQ(row.values.size(), leaves.columns.size());
        const auto least = std::min_element(row.values.begin(), row.values.end() - 1,
                                            [](const auto& a, const auto& b) { return *a.value < *b.value; });
        const auto column = static_cast<std::size_t>(least - row.values.begin());
        EXPECT_EQ(std::to_string(static_cast<int>(*row.values.back().value)), leaves.columns[column]);
    }
}

} // namespace
} // namespace farfield::m2l2d
