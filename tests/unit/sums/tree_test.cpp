// The tree and its lists: points lie in their cells, and every pair of points is served exactly once.
#include "backend/comm/in_process.h"
#include "sums/tree/dimension.h"
#include "sums/tree/morton.h"
#include "sums/tree/near_lists.h"
#include "sums/tree/octree.h"
#include "sums/tree/sort_keys.h"

#include <fmt/format.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace farfield {
namespace {

TEST(Morton, NumbersCellsOctantByOctant) {
    EXPECT_EQ(morton_key(1, 0, 0), 1U);
    EXPECT_EQ(morton_key(0, 1, 0), 2U);
    EXPECT_EQ(morton_key(0, 0, 1), 4U);
    EXPECT_EQ(morton_key(3, 1, 2), (1U + 2U) + 8U * (1U + 4U));
    EXPECT_EQ(morton_key(0x1fffff, 0x1fffff, 0x1fffff), ~std::uint64_t{0} >> 1U);
}

// Evenly spread keys, many that are the same, short runs of keys with the same highest bits, and one long
// run.
TEST(SortKeys, IsStableForAnyNumberOfThreads) {
    std::mt19937_64 engine(7);
    for (const std::size_t n : {0, 1, 2, 1000, 200000})
        for (const int kind : {0, 1, 2, 3}) {
            RawVector<std::uint64_t> keys(n);
            for (auto& key : keys)
                key = kind == 0   ? engine() >> 1U
                      : kind == 1 ? engine() % (n / 2 + 1) << 20U | std::uint64_t{5}
                      : kind == 2 ? engine() % (n / 4 + 1) << 42U | engine() % 1000
                                  : engine() % 100000;
            if (kind == 3 && n > 0) keys.front() = std::uint64_t{1} << 62U;
            RawVector<std::int32_t> expected(n);
            std::iota(expected.begin(), expected.end(), 0);
            std::stable_sort(expected.begin(), expected.end(), [&](std::int32_t a, std::int32_t b) {
                return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)];
            });
            for (const int threads : {1, 2, 5}) {
                const auto sorted = sort_keys(keys, threads);
                EXPECT_EQ(sorted.from, expected) << n << " keys of kind " << kind;
                EXPECT_TRUE(std::is_sorted(sorted.keys.begin(), sorted.keys.end()));
            }
        }
}

constexpr int dimension_points = 100000;

/// Points at random in [0, 1]^dimension, on a surface or a line that is not parallel to an axis.
std::vector<double> of_dimension(int dimension) {
    std::mt19937 engine(3);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    std::vector<double> points;
    for (int i = 0; i < dimension_points; ++i) {
        const double a = uniform(engine);
        const double b = dimension > 1 ? uniform(engine) : 0.3 * a;
        const double c = dimension > 2 ? uniform(engine) : 0.4 * a + 0.3 * b;
        points.insert(points.end(), {a, b, c});
    }
    return points;
}

RawVector<std::uint64_t> keys_of(const std::vector<double>& points, int level) {
    RawVector<std::uint64_t> keys;
    const auto at = [&](std::size_t i) {
        return static_cast<std::uint32_t>(points[i] * static_cast<double>(1 << level));
    };
    for (std::size_t i = 0; i < points.size(); i += 3)
        keys.push_back(morton_key(at(i), at(i + 1), at(i + 2)));
    std::sort(keys.begin(), keys.end());
    return keys;
}

TEST(Dimension, IsThatOfWhatPointsLieOn) {
    constexpr int level = 12;
    for (const int dimension : {1, 2, 3}) {
        const auto keys = keys_of(of_dimension(dimension), level);
        const double found = dimension_of(keys, level, 50.0, nullptr, 1);
        EXPECT_NEAR(found, dimension, 0.12);
        for (const int threads : {2, 5}) EXPECT_EQ(dimension_of(keys, level, 50.0, nullptr, threads), found);
    }
}

// However points are dealt out: the same number, to the last bit.
TEST(Dimension, IsTheSameOnRanks) {
    constexpr int level = 12;
    for (const int dimension : {1, 3}) {
        const auto keys = keys_of(of_dimension(dimension), level);
        const double found = dimension_of(keys, level, 50.0, nullptr, 1);
        for (const int count : {1, 2, 3, 7})
            for (const bool by_regions : {true, false})
                comm::run_ranks(count, [&](comm::Transport& ranks) {
                    RawVector<std::uint64_t> own; // rank 1 has none
                    for (std::size_t i = 0; i < keys.size(); ++i) {
                        const auto owner = by_regions ? i * static_cast<std::size_t>(count) / keys.size()
                                                      : i * i % static_cast<std::size_t>(count);
                        if ((owner == 1 ? 0 : static_cast<int>(owner)) == ranks.rank())
                            own.push_back(keys[i]);
                    }
                    EXPECT_EQ(dimension_of(own, level, 50.0, &ranks, 1), found) << count << " ranks";
                });
    }
}

TEST(MergeKeys, OrdersRunsAsSortingDoes) {
    std::mt19937_64 engine(8);
    for (const std::size_t parts : {1, 2, 3, 4, 5, 8})
        for (const std::uint64_t kinds : {std::uint64_t{3}, std::uint64_t{1} << 60U}) {
            RawVector<std::uint64_t> keys;
            std::vector<std::int64_t> begins{0};
            for (std::size_t part = 0; part < parts; ++part) {
                const auto size = part == 2 ? 0 : engine() % 400;
                for (std::size_t i = 0; i < size; ++i) keys.push_back(engine() % kinds);
                std::sort(keys.begin() + begins.back(), keys.end());
                begins.push_back(std::ssize(keys));
            }
            const auto sorted = sort_keys(keys, 1);
            const auto merged = merge_keys(keys, begins);
            EXPECT_EQ(merged.keys, sorted.keys) << parts << " runs";
            EXPECT_EQ(merged.from, sorted.from) << parts << " runs"; // equal keys keep their order
        }
}

// A point has 7 others in the cell of level 0, and 1 in that of level 1.
TEST(Dimension, ComparesPairsOfTwoLevels) {
    RawVector<std::uint64_t> keys{0, 0, 1, 1, 2, 2, 3, 3};
    EXPECT_NEAR(dimension_of(keys, 1, 1.5, nullptr, 1), std::log2(7.0 / 1.0), 1e-12);
    EXPECT_EQ(dimension_of(keys, 1, 7.5, nullptr, 1), 3.0) << "all cells hold few";
    EXPECT_EQ(dimension_of(keys, 1, 0.5, nullptr, 1), 3.0) << "no cell holds so few";
    EXPECT_EQ(dimension_of({}, 1, 1.5, nullptr, 1), 3.0);
    EXPECT_EQ(dimension_of({5}, 1, 1.5, nullptr, 1), 3.0);
}

TEST(Octree, LeavesOnSurfacesHoldMore) {
    for (const int dimension : {2, 3}) {
        const auto points = of_dimension(dimension);
        const TreeShape usual{.most = 60};
        auto more = usual;
        more.more_on_surfaces = true;
        const Octree before(points, {}, true, usual, 2), tree(points, {}, true, more, 2);
        if (dimension == 2) {
            EXPECT_NEAR(tree.shape().most, 120, 12);
            EXPECT_LT(tree.cells().size(), before.cells().size());
        } else {
            EXPECT_NEAR(tree.shape().most, 60, 2);
        }
    }
}

enum class Cloud { uniform, clustered, line, one_place };

std::vector<double> cloud(Cloud kind, int n, unsigned seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    std::vector<double> out;
    for (int i = 0; i < n; ++i) {
        const double scale = kind == Cloud::clustered ? std::pow(10.0, -3.0 * uniform(engine)) : 1.0;
        for (int axis = 0; axis < 3; ++axis) {
            const double x = uniform(engine);
            out.push_back(kind == Cloud::one_place           ? 0.25
                          : kind == Cloud::line && axis != 1 ? 0.5
                                                             : scale * x);
        }
    }
    return out;
}

struct Setting {
    Cloud kind;
    bool self;
    TreeShape shape;
    std::int32_t few;
};

class Tree : public testing::TestWithParam<Setting> {};

bool holds(BlockRange outer, BlockRange inner) {
    return outer.begin <= inner.begin && inner.end <= outer.end;
}

TEST_P(Tree, PointsLieInTheirCells) {
    const auto& setting = GetParam();
    const auto sources = cloud(setting.kind, 700, 1);
    const auto targets = setting.self ? std::vector<double>{} : cloud(Cloud::uniform, 300, 2);
    const Octree tree(sources, targets, setting.self, setting.shape, 2);
    for (const auto& cell : tree.cells()) {
        const auto centre = tree.centre(cell);
        const double half = 0.5 * tree.width(cell.level) * (1.0 + 1e-12);
        for (const auto& [points, range] :
             {std::pair{&tree.sources(), cell.sources}, std::pair{&tree.targets(), cell.targets}})
            for (auto i = range.begin; i < range.end; ++i)
                for (std::size_t axis = 0; axis < 3; ++axis)
                    ASSERT_LE(std::abs(points->x[axis][static_cast<std::size_t>(i)] - centre[axis]), half);
        std::int32_t in_children = 0;
        for (const auto child : cell.children) {
            if (child == no_cell) continue;
            EXPECT_TRUE(holds(cell.sources, tree.cell(child).sources));
            EXPECT_TRUE(holds(cell.targets, tree.cell(child).targets));
            in_children += tree.cell(child).sources.size();
        }
        EXPECT_EQ(in_children, cell.leaf ? 0 : cell.sources.size());
        if (setting.shape.depth >= 0 && cell.leaf) {
            EXPECT_EQ(cell.level, setting.shape.depth);
        }
    }
    auto numbers = tree.sources().from;
    std::sort(numbers.begin(), numbers.end());
    for (std::size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], static_cast<std::int32_t>(i));
}

/// How often each source acts on each target.
class Coverage {
public:
    Coverage(const Octree& tree, const NearLists& lists)
        : tree_(tree), lists_(lists), sources_(tree.sources().from.size()),
          counts_(tree.targets().from.size() * sources_) {
        direct();
        across();
        for (std::size_t leaf = 0; leaf < lists.leaves.size(); ++leaf)
            for (auto k = lists.multipoles.first[leaf]; k < lists.multipoles.first[leaf + 1]; ++k)
                add(tree.cell(lists.leaves[leaf]).targets,
                    tree.cell(lists.multipoles.partners[static_cast<std::size_t>(k)]).sources);
        for (std::size_t cell = 0; cell < tree.cells().size(); ++cell)
            for (auto k = lists.sources.first[cell]; k < lists.sources.first[cell + 1]; ++k)
                add(tree.cells()[cell].targets,
                    tree.cell(lists.sources.partners[static_cast<std::size_t>(k)]).sources);
    }

    [[nodiscard]] const std::vector<int>& counts() const { return counts_; }

private:
    void add(BlockRange targets, BlockRange sources) {
        for (auto t = targets.begin; t < targets.end; ++t)
            for (auto s = sources.begin; s < sources.end; ++s)
                ++counts_[static_cast<std::size_t>(t) * sources_ + static_cast<std::size_t>(s)];
    }

    void direct() {
        for (std::size_t leaf = 0; leaf < lists_.leaves.size(); ++leaf) {
            const auto& cell = tree_.cell(lists_.leaves[leaf]);
            if (tree_.self()) add(cell.targets, cell.sources);
            for (auto k = lists_.direct.first[leaf]; k < lists_.direct.first[leaf + 1]; ++k) {
                const auto partner =
                    static_cast<std::size_t>(lists_.direct.partners[static_cast<std::size_t>(k)]);
                const auto& other = tree_.cell(lists_.leaves[partner]);
                add(cell.targets, other.sources);
                if (tree_.self()) add(other.targets, cell.sources);
            }
        }
    }

    // Cells of a level that are not neighbours although their parents are, by their numbers in the grid.
    void across() {
        const int w = tree_.shape().separation;
        for (const auto& target : tree_.cells())
            for (const auto& source : tree_.cells()) {
                if (target.level != source.level) continue;
                int apart = 0, parents_apart = 0;
                for (int axis = 0; axis < 3; ++axis) {
                    apart = std::max(apart, std::abs(target.index[axis] - source.index[axis]));
                    parents_apart = std::max(parents_apart,
                                             std::abs((target.index[axis] >> 1) - (source.index[axis] >> 1)));
                }
                if (apart > w && (target.level == 0 || parents_apart <= w))
                    add(target.targets, source.sources);
            }
    }

    const Octree& tree_;
    const NearLists& lists_;
    std::size_t sources_;
    std::vector<int> counts_;
};

// Sums over blocks take the lists as they are.
void expect_sound(const Octree& tree, const NearLists& lists) {
    std::vector<BlockRange> targets, sources;
    for (const auto leaf : lists.leaves) {
        targets.push_back(tree.cell(leaf).targets);
        sources.push_back(tree.cell(leaf).sources);
    }
    const auto points = [](const TreePoints& of) { return static_cast<std::int64_t>(of.from.size()); };
    const auto& direct = lists.direct;
    if (tree.self())
        EXPECT_NO_THROW(check_mutual_lists({sources, sources, direct.first, direct.partners, true},
                                           points(tree.sources())));
    else
        EXPECT_NO_THROW(check_lists({targets, sources, direct.first, direct.partners}, points(tree.targets()),
                                    points(tree.sources())));
}

TEST_P(Tree, EveryPairIsServedOnce) {
    const auto& setting = GetParam();
    const auto sources = cloud(setting.kind, 700, 3);
    const auto targets = setting.self ? std::vector<double>{} : cloud(Cloud::clustered, 300, 4);
    const Octree tree(sources, targets, setting.self, setting.shape, 1);
    const auto lists = near_lists(tree, setting.few);
    expect_sound(tree, lists);
    const Coverage coverage(tree, lists);
    const auto wrong = std::count_if(coverage.counts().begin(), coverage.counts().end(),
                                     [](int count) { return count != 1; });
    EXPECT_EQ(wrong, 0) << "of " << coverage.counts().size() << " pairs, " << tree.cells().size() << " cells";
}

// Several tasks find them, whose leaves have partners of their level alone: their rows follow each other.
TEST(NearLists, ServeEveryPairOnceInALargeUniformTree) {
    const auto sources = cloud(Cloud::uniform, 1500, 3);
    const Octree tree(sources, {}, true, {.depth = 3}, 1);
    const auto lists = near_lists(tree, 0, 3);
    EXPECT_GT(lists.leaves.size(), std::size_t{256});
    expect_sound(tree, lists);
    const Coverage coverage(tree, lists);
    const auto& counts = coverage.counts();
    EXPECT_EQ(std::count(counts.begin(), counts.end(), 1), static_cast<std::ptrdiff_t>(counts.size()));
}

TEST(NearLists, NoExpansionActsOnPointsWhereNoneMay) {
    const auto sources = cloud(Cloud::clustered, 700, 3);
    const Octree tree(sources, {}, true, {.most = 9}, 1);
    EXPECT_FALSE(near_lists(tree, 0).multipoles.partners.empty());
    const auto lists = near_lists(tree, all_points);
    EXPECT_TRUE(lists.multipoles.partners.empty());
    EXPECT_TRUE(lists.sources.partners.empty());
}

// Twenty points beside a clump of a thousand, and twenty far from it: the first meet the clump in smaller
// cells.
TEST(Octree, DividesLeavesBesideManyPoints) {
    std::mt19937 engine(9);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    std::vector<double> points;
    const auto add = [&](int count, double x, double side) {
        for (int i = 0; i < count; ++i)
            points.insert(points.end(),
                          {x + side * uniform(engine), uniform(engine) * side, uniform(engine) * side});
    };
    add(1000, 1.5, 0.5);
    add(20, 3.5, 1.0);
    add(20, 7.0, 1.0);
    points.insert(points.end(), {0.0, 9.0, 9.0});
    const auto leaf_of = [&](const Octree& tree, std::int32_t row) {
        for (const auto& cell : tree.cells())
            if (cell.leaf)
                for (auto i = cell.sources.begin; i < cell.sources.end; ++i)
                    if (tree.sources().from[static_cast<std::size_t>(i)] == row) return cell.level;
        return -1;
    };
    const Octree plain(points, {}, true, {.coarse = 3, .most = 30}, 1);
    const Octree divided(points, {}, true, {.coarse = 3, .most = 30, .pairs_a_cell = 4000.0}, 1);
    EXPECT_GT(leaf_of(divided, 1005), leaf_of(plain, 1005));
    EXPECT_EQ(leaf_of(divided, 1025), leaf_of(plain, 1025));
    const Octree dear(points, {}, true, {.coarse = 3, .most = 30, .pairs_a_cell = 1e6}, 1);
    EXPECT_EQ(dear.cells().size(), plain.cells().size()) << "no cell is worth as many pairs";
}

// The cube's side takes few values, so that operators that depend on it serve again.
TEST(Octree, SidesInSteps) {
    for (const double size : {1.0, 1.01, 0.7, 3e-5}) {
        const std::vector<double> points{0.0, 0.0, 0.0, size, 0.1 * size, 0.2 * size};
        const Octree tree(points, {}, true, {.most = 1, .steps = true}, 1);
        const double side = tree.width(0);
        int exponent = 0;
        const double steps = 32.0 * std::frexp(side, &exponent);
        EXPECT_EQ(steps, std::round(steps));
        EXPECT_GE(side, size);
        EXPECT_LE(side, 1.0626 * size);
    }
}

TEST_P(Tree, NeighboursAreThoseOfTheGrid) {
    const auto& setting = GetParam();
    const auto sources = cloud(setting.kind, 400, 5);
    const Octree tree(sources, {}, true, setting.shape, 1);
    const int w = setting.shape.separation;
    for (std::size_t c = 0; c < tree.cells().size(); ++c) {
        const auto& cell = tree.cells()[c];
        for (int level_cell = tree.level_begin(cell.level); level_cell < tree.level_begin(cell.level + 1);
             ++level_cell) {
            const auto& other = tree.cell(level_cell);
            int d[3];
            int apart = 0;
            for (int axis = 0; axis < 3; ++axis) {
                d[axis] = other.index[axis] - cell.index[axis];
                apart = std::max(apart, std::abs(d[axis]));
            }
            if (apart > w) continue;
            EXPECT_EQ(tree.neighbours(static_cast<std::int32_t>(
                          c))[static_cast<std::size_t>(tree.neighbour_slot(d[0], d[1], d[2]))],
                      level_cell);
        }
    }
}

std::vector<Setting> settings() {
    std::vector<Setting> out;
    for (const auto kind : {Cloud::uniform, Cloud::clustered, Cloud::line, Cloud::one_place})
        for (const bool self : {true, false}) {
            out.push_back({kind, self, {.most = 12}, 0});
            out.push_back({kind, self, {.most = 12, .separation = 2}, 5});
            out.push_back({kind, self, {.coarse = 3, .most = 9}, 100});
            out.push_back({kind, self, {.coarse = 7, .most = 5, .separation = 2}, 0});
            out.push_back({kind, self, {.coarse = 3, .most = 9, .steps = true}, all_points});
            out.push_back({kind, self, {.coarse = 3, .most = 12, .pairs_a_cell = 30.0}, all_points});
            out.push_back({kind, self, {.most = 12, .pairs_a_cell = 50.0, .separation = 2}, 5});
            out.push_back({kind, self, {.depth = 3}, 0});
            out.push_back({kind, self, {.depth = 0}, 0});
        }
    return out;
}

std::string name_of_setting(const testing::TestParamInfo<Setting>& test) {
    const std::array clouds{"uniform", "clustered", "line", "one_place"};
    return fmt::format("{}_{}_{}", clouds.at(static_cast<std::size_t>(test.param.kind)),
                       test.param.self ? "alone" : "with_targets", test.index);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Tree, testing::ValuesIn(settings()), name_of_setting);

} // namespace
} // namespace farfield
