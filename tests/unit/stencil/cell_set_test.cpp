// Sets of cells against one flag a cell.
#include "stencil/ir/cell_set.h"

#include <gtest/gtest.h>

#include <random>

namespace farfield::stencil::ir {
namespace {

struct Pair {
    CellSet set;
    std::vector<bool> flags;
};

Pair random_set(const Shape& shape, std::mt19937& random) {
    Pair out{CellSet(), std::vector<bool>(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]))};
    CellSet::Builder builder(shape);
    const int density = static_cast<int>(random() % 5);
    std::size_t at = 0;
    for (std::int64_t r = 0; r < shape[1] * shape[2]; ++r) {
        for (std::int64_t i = 0; i < shape[0]; ++i, ++at)
            if (static_cast<int>(random() % 4) < density) {
                out.flags[at] = true;
                builder.add({i, i + 1});
            }
        builder.end_row();
    }
    out.set = builder.finish();
    return out;
}

void expect_same(const CellSet& set, const std::vector<bool>& flags) {
    const auto& n = set.shape();
    CellBox bounds{{n[0], n[1], n[2]}, {0, 0, 0}};
    std::int64_t count = 0;
    std::size_t at = 0;
    for (std::int64_t k = 0; k < n[2]; ++k)
        for (std::int64_t j = 0; j < n[1]; ++j)
            for (std::int64_t i = 0; i < n[0]; ++i, ++at) {
                ASSERT_EQ(set.contains({i, j, k}), flags[at]) << i << ' ' << j << ' ' << k;
                if (!flags[at]) continue;
                ++count;
                const std::array<std::int64_t, 3> cell{i, j, k};
                for (std::size_t a = 0; a < 3; ++a) {
                    bounds.first[a] = std::min(bounds.first[a], cell[a]);
                    bounds.last[a] = std::max(bounds.last[a], cell[a] + 1);
                }
            }
    EXPECT_EQ(set.count(), count);
    if (count > 0) {
        EXPECT_EQ(set.bounds(), bounds);
    }
    for (std::int64_t r = 0; r < set.rows(); ++r)
        for (std::size_t i = 1; i < set.row(r).size(); ++i)
            EXPECT_LT(set.row(r)[i - 1].last, set.row(r)[i].first) << "intervals touch in row " << r;
}

TEST(CellSet, OperationsAgreeWithFlags) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto up_to = [&](unsigned most) { return static_cast<std::int64_t>(1 + random() % most); };
        const Shape shape{up_to(9), up_to(4), up_to(3)};
        const auto a = random_set(shape, random);
        const auto b = random_set(shape, random);
        auto both = a.flags;
        auto left = a.flags;
        auto none = a.flags;
        auto either = a.flags;
        for (std::size_t i = 0; i < both.size(); ++i) {
            both[i] = a.flags[i] && b.flags[i];
            left[i] = a.flags[i] && !b.flags[i];
            none[i] = !a.flags[i];
            either[i] = a.flags[i] || b.flags[i];
        }
        expect_same(a.set, a.flags);
        expect_same(intersection(a.set, b.set), both);
        expect_same(unite(a.set, b.set), either);
        expect_same(difference(a.set, b.set), left);
        expect_same(complement(a.set), none);
    }
}

TEST(CellSet, BoxIsCutAtTheGrid) {
    const CellSet box({5, 4, 1}, {{-2, 1, 0}, {3, 9, 1}});
    EXPECT_EQ(box.bounds(), (CellBox{{0, 1, 0}, {3, 4, 1}}));
    EXPECT_TRUE(box.is_box());
    EXPECT_EQ(box.count(), 9);
    EXPECT_TRUE(CellSet({5, 4, 1}, {{2, 2, 0}, {2, 3, 1}}).empty());
    EXPECT_FALSE(complement(box).is_box());
}

// A chessboard has two rows, however large it is; so have what sets make of it.
TEST(CellSet, KeepsRowsThatAreAlikeOnce) {
    const Shape shape{1000, 800, 3};
    const auto every_second = [&](std::int64_t first) {
        CellSet::Builder builder(shape);
        for (std::int64_t r = 0; r < shape[1] * shape[2]; ++r) {
            for (auto i = (r + first) % 2; i < shape[0]; i += 2) builder.add({i, i + 1});
            builder.end_row();
        }
        return builder.finish();
    };
    const auto red = every_second(0);
    const auto black = every_second(1);
    EXPECT_EQ(red.intervals(), 1000);
    EXPECT_EQ(red.count(), 1000 * 800 * 3 / 2);
    EXPECT_EQ(red.pattern(0), red.pattern(2));
    EXPECT_EQ(complement(red), black);
    EXPECT_EQ(complement(red).intervals(), 1000);
    EXPECT_EQ(unite(red, black), CellSet(shape, whole(shape)));
    EXPECT_EQ(unite(red, black).intervals(), 1);
    EXPECT_TRUE(intersection(red, black).empty());
    EXPECT_EQ(difference(red, CellSet(shape, {{0, 0, 0}, {1000, 400, 3}})).count(), 1000 * 400 * 3 / 2);
    CellSet::Builder again(shape);
    again.add_rows(red);
    EXPECT_EQ(again.finish(), red);
}

} // namespace
} // namespace farfield::stencil::ir
