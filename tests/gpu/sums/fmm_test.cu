// Fast multipole sums on a GPU: the tree and the lists are those of the host, and sums are within what their
// order gives of the sum of every pair.
//
// Errors: an order p at separation 1 leaves about 10^−(1.5 + 0.31 p) in the potential and the field of
// charges of both signs (fmm/shape.cpp), here with a factor of 10.
#include "gpu/needs_gpu.h"
#include "gpu/sums/fmm_clouds.h"
#include "sums/tree/cuda/device_tree.cuh"
#include "sums/tree/near_lists.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace farfield {
namespace {

using test::charges;
using test::Cloud;
using test::cloud;
using test::computed;
using test::relative_error;
using test::Values;

template <class T>
std::vector<T> fetched(const T* from, std::size_t count) {
    std::vector<T> out(count);
    cuda::check(cudaMemcpy(out.data(), from, count * sizeof(T), cudaMemcpyDefault), "reading back");
    return out;
}

constexpr Cloud clouds[] = {Cloud::cube, Cloud::clustered, Cloud::sphere, Cloud::line, Cloud::apart};

using Pairs = std::multiset<std::pair<std::int32_t, std::int32_t>>;

Pairs pairs_of(std::span<const std::int32_t> first, std::span<const std::int32_t> partners) {
    Pairs out;
    for (std::size_t row = 0; row + 1 < first.size(); ++row)
        for (auto k = first[row]; k < first[row + 1]; ++k)
            out.emplace(static_cast<std::int32_t>(row), partners[static_cast<std::size_t>(k)]);
    return out;
}

Pairs pairs_of(const cuda::DeviceRows& rows, std::size_t count) {
    Pairs out;
    if (rows.total == 0) return out;
    const auto first = fetched(rows.first, count), last = fetched(rows.last, count);
    std::size_t total = 0;
    for (std::size_t row = 0; row < count; ++row) {
        const auto size = static_cast<std::size_t>(last[row] - first[row]);
        total += size;
        for (const auto partner : fetched(rows.partners + first[row], size))
            out.emplace(static_cast<std::int32_t>(row), partner);
    }
    EXPECT_EQ(total, static_cast<std::size_t>(rows.total));
    return out;
}

std::size_t side_of(const TreeCell& cell) {
    for (std::size_t octant = 0; octant < 8; ++octant)
        if (cell.children[octant] != no_cell) return octant / 4;
    return 0;
}

struct TreeCase {
    Cloud kind;
    int n, m; ///< m = 0: targets are the sources
    TreeShape shape;
    std::int32_t few;
    int dimension = 3; ///< 2: of points whose z is 0
};

/// Points N×3 as a tree of that dimension takes them; in the plane their z becomes 0.
std::vector<double> rows_of(std::vector<double>& points, int dimension) {
    if (dimension == 3) return points;
    std::vector<double> out;
    for (std::size_t i = 0; i < points.size(); i += 3) {
        points[i + 2] = 0.0;
        out.insert(out.end(), {points[i], points[i + 1]});
    }
    return out;
}

void expect_same_tree(const TreeCase& at) {
    auto sources = cloud(at.kind, at.n, 1);
    auto targets = cloud(Cloud::cube, at.m, 2);
    const bool self = at.m == 0;
    const auto sources_there = rows_of(sources, at.dimension), targets_as = rows_of(targets, at.dimension);
    std::array<Extent, 3> ranges;
    extend(ranges, sources);
    extend(ranges, targets);
    auto cube = cube_around(ranges, at.shape.steps);
    if (at.shape.period > 0.0) {
        cube.side = at.shape.period;
        for (double& low : cube.low) low = at.shape.low;
    }
    const Octree host(sources, targets, self, at.shape, 1);
    const auto lists = near_lists(host, at.few);
    cuda::DeviceArray<double> there(sources_there.size()), targets_there(targets_as.size());
    cuda::copy(there.data(), sources_there.data(), sources_there.size(), nullptr);
    cuda::copy(targets_there.data(), targets_as.data(), targets_as.size(), nullptr);
    cuda::DeviceTree tree(at.dimension);
    for (int again = 0; again < 2; ++again) // the second finds the first one's memory
        tree.build(there.data(), at.n, self ? nullptr : targets_there.data(), at.m, Frame{}, cube, at.shape,
                   at.few, nullptr);
    cuda::check(cudaDeviceSynchronize(), "waiting for the GPU");

    ASSERT_EQ(tree.levels(), host.levels());
    for (int level = 0; level <= tree.levels(); ++level)
        ASSERT_EQ(tree.level_begin(level), host.level_begin(level));
    const auto view = tree.view();
    const auto cells = host.cells().size();
    // within a leaf points stand in any order, here and there: their keys are not sorted to the last bit
    const auto expect_points = [&](const cuda::DevicePoints& points, const TreePoints& as, auto range_of) {
        std::vector<std::int32_t> expected(as.from.begin(), as.from.end());
        auto got = fetched(points.from.data(), expected.size());
        for (const auto& cell : host.cells())
            if (const BlockRange range = range_of(cell); cell.leaf)
                for (auto* order : {&expected, &got})
                    std::sort(order->begin() + range.begin, order->begin() + range.end);
        EXPECT_EQ(got, expected);
    };
    expect_points(tree.sources(), host.sources(), [](const TreeCell& cell) { return cell.sources; });
    expect_points(tree.targets(), host.targets(), [](const TreeCell& cell) { return cell.targets; });
    const auto places = fetched(view.places, cells);
    const auto parents = fetched(view.parents, cells);
    const auto octants = static_cast<std::size_t>(view.child_count());
    const auto children = fetched(view.children, octants * cells);
    const auto divided = fetched(view.divided, cells);
    const auto source_ranges = fetched(view.sources, cells);
    const auto target_ranges = fetched(view.targets, cells);
    const auto count = static_cast<std::size_t>(view.neighbour_count());
    const auto neighbours = fetched(view.neighbours, count * cells);
    for (std::size_t c = 0; c < cells; ++c) {
        const auto& cell = host.cells()[c];
        for (int axis = 0; axis < at.dimension; ++axis) {
            EXPECT_EQ(places[c].index[axis], cell.index[axis]);
            EXPECT_EQ(view.centre(places[c], axis), host.centre(cell)[static_cast<std::size_t>(axis)]);
        }
        EXPECT_EQ(places[c].level, cell.level);
        EXPECT_EQ(parents[c], cell.parent);
        EXPECT_EQ(divided[c] == 0, cell.leaf);
        // an octree's cell in the plane has children on one side of it alone
        const std::size_t side = at.dimension == 2 && !cell.leaf ? 4 * side_of(cell) : 0;
        for (std::size_t octant = 0; octant < octants; ++octant)
            EXPECT_EQ(children[octants * c + octant], cell.children[side + octant]);
        EXPECT_EQ(source_ranges[c].begin, cell.sources.begin);
        EXPECT_EQ(source_ranges[c].end, cell.sources.end);
        EXPECT_EQ(target_ranges[c].begin, cell.targets.begin);
        EXPECT_EQ(target_ranges[c].end, cell.targets.end);
        const auto near = host.neighbours(static_cast<std::int32_t>(c));
        const std::size_t layer = at.dimension == 2 ? (near.size() - count) / 2 : 0;
        for (std::size_t slot = 0; slot < count; ++slot)
            EXPECT_EQ(neighbours[count * c + slot], near[layer + slot]);
    }

    // Leaves stand in the order of cells here, and of points there; the host names a pair of leaves once.
    const auto leaves = fetched(tree.leaves(), static_cast<std::size_t>(tree.leaf_count()));
    ASSERT_EQ(std::multiset<std::int32_t>(leaves.begin(), leaves.end()),
              std::multiset<std::int32_t>(lists.leaves.begin(), lists.leaves.end()));
    const auto leaf = [](const auto& of, std::int32_t number) {
        return of[static_cast<std::size_t>(number)];
    };
    Pairs direct, expected;
    for (const auto& [a, b] : pairs_of(tree.direct(), leaves.size()))
        direct.emplace(leaf(leaves, a), leaf(leaves, b));
    for (const auto& [a, b] : pairs_of(lists.direct.first, lists.direct.partners)) {
        expected.emplace(leaf(lists.leaves, a), leaf(lists.leaves, b));
        if (self) expected.emplace(leaf(lists.leaves, b), leaf(lists.leaves, a));
    }
    for (const auto& [a, b] : pairs_of(lists.images.first, lists.images.partners))
        expected.emplace(leaf(lists.leaves, a), leaf(lists.leaves, b));
    EXPECT_EQ(direct, expected);
    Pairs multipoles, expected_multipoles;
    for (const auto& [a, b] : pairs_of(tree.multipoles(), leaves.size()))
        multipoles.emplace(leaf(leaves, a), b);
    for (const auto& [a, b] : pairs_of(lists.multipoles.first, lists.multipoles.partners))
        expected_multipoles.emplace(leaf(lists.leaves, a), b);
    EXPECT_EQ(multipoles, expected_multipoles);
    EXPECT_EQ(pairs_of(tree.points(), cells), pairs_of(lists.sources.first, lists.sources.partners));
}

TEST(DeviceTree, IsThatOfTheHostInThePlane) {
    NEEDS_GPU();
    for (const auto kind : clouds)
        for (const int m : {0, 700})
            for (const int separation : {1, 2})
                for (const int coarse : {1, 3, 7}) {
                    TreeShape shape;
                    shape.coarse = coarse;
                    shape.most = 12;
                    shape.separation = separation;
                    expect_same_tree({kind, 3000, m, shape, 5, 2});
                    if (HasFailure()) return;
                }
    TreeShape shallow;
    shallow.most = 10;
    shallow.deepest = 3;
    expect_same_tree({Cloud::clustered, 5000, 0, shallow, 5, 2});
    for (const int n : {1, 2}) expect_same_tree({Cloud::cube, n, 0, TreeShape{}, 5, 2});
}

TEST(DeviceTree, IsThatOfTheHost) {
    NEEDS_GPU();
    for (const auto kind : clouds)
        for (const int m : {0, 700})
            for (const int separation : {1, 2})
                for (const int coarse : {1, 3, 5}) {
                    SCOPED_TRACE(static_cast<int>(kind));
                    SCOPED_TRACE(m);
                    SCOPED_TRACE(coarse);
                    TreeShape shape;
                    shape.coarse = coarse;
                    shape.most = 20;
                    shape.separation = separation;
                    expect_same_tree({kind, 3000, m, shape, 12});
                    if (HasFailure()) return;
                }
    TreeShape uniform;
    uniform.depth = 3;
    expect_same_tree({Cloud::cube, 5000, 0, uniform, 12});
    for (const int n : {1, 2}) expect_same_tree({Cloud::cube, n, 0, TreeShape{}, 12});
}

// The clouds lie anywhere in the box, and across its faces.
TEST(DeviceTree, IsThatOfTheHostInABox) {
    NEEDS_GPU();
    for (const auto kind : {Cloud::cube, Cloud::clustered, Cloud::sphere, Cloud::line})
        for (const int m : {0, 700})
            for (const int separation : {1, 2})
                for (const int coarse : {1, 3})
                    for (const double low : {-1.0, -1.5}) {
                        TreeShape shape;
                        shape.coarse = coarse;
                        shape.most = 12;
                        shape.separation = separation;
                        shape.period = 3.0;
                        shape.low = low;
                        expect_same_tree({kind, 3000, m, shape, 5});
                        if (HasFailure()) return;
                    }
}

// Leaves are listed in the order of their points where these all act one by one.
TEST(DeviceTree, IsThatOfTheHostForSoftenedSums) {
    NEEDS_GPU();
    for (const auto kind : clouds)
        for (const int m : {0, 700})
            for (const int separation : {1, 2})
                for (const int coarse : {1, 3}) {
                    SCOPED_TRACE(static_cast<int>(kind));
                    SCOPED_TRACE(m);
                    SCOPED_TRACE(coarse);
                    TreeShape shape;
                    shape.coarse = coarse;
                    shape.most = 30;
                    shape.separation = separation;
                    shape.pairs_a_cell = 27 * 400;
                    shape.steps = true;
                    expect_same_tree({kind, 5000, m, shape, all_points});
                    if (HasFailure()) return;
                }
    TreeShape plane;
    plane.most = 12;
    expect_same_tree({Cloud::clustered, 3000, 700, plane, all_points, 2});
}

struct SumCase {
    Cloud kind;
    int m, order, separation;
    Precision precision;
    int depth = -1, leaf = 0;
};

void expect_accurate(const SumCase& at) {
    SCOPED_TRACE("cloud " + std::to_string(static_cast<int>(at.kind)) + ", targets " + std::to_string(at.m) +
                 ", order " + std::to_string(at.order) + ", depth " + std::to_string(at.depth));
    constexpr int n = 4000;
    const auto sources = cloud(at.kind, n, 3);
    const auto targets = cloud(at.kind, at.m, 4);
    const auto q = charges(n, 5);
    SumOptions direct{.kernel = Kernel::coulomb, .method = Method::direct};
    direct.device.kind = DeviceKind::cpu;
    SumOptions fmm = direct;
    fmm.method = Method::fmm;
    fmm.device.kind = DeviceKind::cuda;
    fmm.order = at.order;
    fmm.separation = at.separation;
    fmm.precision = at.precision;
    fmm.depth = at.depth;
    fmm.leaf = at.leaf;
    const auto exact = computed(sources, targets, q, direct);
    const auto got = computed(sources, targets, q, fmm);
    const double digits = at.separation == 1 ? 1.5 + 0.31 * at.order : 1.6 + 0.52 * at.order;
    const double truncation = 10.0 * std::pow(10.0, -digits);
    const double rounding =
        at.precision == Precision::float64 ? 1e-13 : test::float_rounding(sources, targets, 0.0);
    EXPECT_LT(relative_error(got.potential, exact.potential), truncation + rounding);
    EXPECT_LT(relative_error(got.field, exact.field), truncation + rounding);
    const auto again = computed(sources, targets, q, fmm);
    EXPECT_EQ(got.potential, again.potential); // the same bits
    EXPECT_EQ(got.field, again.field);
}

TEST(FmmOnGpu, IsAsAccurateAsItsOrder) {
    NEEDS_GPU();
    for (const auto kind : clouds)
        for (const int m : {0, 900})
            for (const auto precision : {Precision::float64, Precision::mixed})
                for (const int order : {3, 8, 17}) {
                    expect_accurate({.kind = kind,
                                     .m = m,
                                     .order = order,
                                     .separation = 1,
                                     .precision = precision,
                                     .leaf = 20});
                    if (HasFailure()) return;
                }
    for (const int order : {1, 4, 5, 10, 30, 40})
        expect_accurate({.kind = Cloud::clustered,
                         .m = 0,
                         .order = order,
                         .separation = 1,
                         .precision = Precision::float64,
                         .leaf = 16});
    expect_accurate({.kind = Cloud::cube,
                     .m = 0,
                     .order = 10,
                     .separation = 2,
                     .precision = Precision::float64,
                     .leaf = 10});
    for (const int depth : {0, 1, 2, 4})
        expect_accurate({.kind = Cloud::cube,
                         .m = 0,
                         .order = 12,
                         .separation = 1,
                         .precision = Precision::float64,
                         .depth = depth});
}

TEST(FmmOnGpu, ReachesTolerances) {
    NEEDS_GPU();
    const auto points = cloud(Cloud::clustered, 20000, 6);
    const auto q = charges(20000, 7);
    for (const double tolerance : {1e-2, 1e-4, 1e-7, 1e-10}) {
        SumOptions options{.kernel = Kernel::coulomb, .method = Method::fmm};
        options.device.kind = DeviceKind::cuda;
        options.tolerance = tolerance;
        const auto got = computed(points, {}, q, options);
        for (const auto& error : got.report.errors) EXPECT_LE(error.relative, tolerance);
        EXPECT_EQ(got.report.errors.size(), 2U);
        EXPECT_EQ(got.report.device.kind, DeviceKind::cuda);
    }
}

TEST(FmmOnGpu, SkipsOrNamesCoincidentPoints) {
    NEEDS_GPU();
    auto points = cloud(Cloud::cube, 3000, 8);
    std::copy(points.begin(), points.begin() + 3, points.begin() + 600);
    const auto q = charges(3000, 9);
    SumOptions options{.kernel = Kernel::coulomb, .method = Method::fmm};
    options.device.kind = DeviceKind::cuda;
    options.order = 12;
    EXPECT_THROW((void)computed(points, {}, q, options), InvalidArgument);
    options.coincident = Coincident::skip;
    auto direct = options;
    direct.method = Method::direct;
    direct.order = 0;
    direct.device.kind = DeviceKind::cpu;
    const auto got = computed(points, {}, q, options);
    EXPECT_LT(relative_error(got.field, computed(points, {}, q, direct).field), 1e-5);
    EXPECT_EQ(got.report.direct.coincident_pairs_skipped, 2);
}

TEST(FmmOnGpu, TakesFewPoints) {
    NEEDS_GPU();
    for (const int n : {0, 1, 2, 3}) {
        const auto points = cloud(Cloud::cube, n, 10);
        const auto q = charges(n, 11);
        SumOptions options{.kernel = Kernel::gravity, .method = Method::fmm};
        options.device.kind = DeviceKind::cuda;
        options.order = 5;
        const auto got = computed(points, {}, q, options);
        EXPECT_EQ(got.field.size(), static_cast<std::size_t>(3 * n));
        for (const double value : got.field) EXPECT_TRUE(std::isfinite(value));
    }
}

// All mirror images at once and one sender after the other: the same sums but for rounding.
TEST(FmmOnGpu, SumsOverMirrorImagesAreThoseOfTheirSenders) {
    NEEDS_GPU();
    for (const Precision precision : {Precision::float32, Precision::mixed, Precision::float64})
        for (const int order : {5, 6, 7, 9, 13, 15, 19, 20, 24}) {
            if (precision != Precision::float64 && order > 19) continue; // there matrices take over
            for (const Cloud kind : {Cloud::cube, Cloud::clustered}) {
                const auto points = cloud(kind, 6000, 31);
                const auto targets = order % 2 == 0 ? cloud(Cloud::cube, 2500, 32) : std::vector<double>();
                const auto q = charges(6000, 33);
                SumOptions options{.kernel = Kernel::coulomb, .method = Method::fmm};
                options.device.kind = DeviceKind::cuda;
                options.precision = precision;
                options.order = order;
                options.leaf = 12;
                options.grading = order == 13 ? 0.0 : 0.6;
                options.m2l = M2L::matrix;
                const auto expected = computed(points, targets, q, options);
                options.m2l = M2L::mirrored;
                const auto got = computed(points, targets, q, options);
                const auto again = computed(points, targets, q, options);
                EXPECT_EQ(got.report.fmm.m2l, M2L::mirrored);
                EXPECT_EQ(got.field, again.field);
                // float32 rounds the points, too
                const double bound = precision == Precision::float64 ? 1e-11 : 3e-5;
                EXPECT_LE(relative_error(got.field, expected.field), bound) << order;
                EXPECT_LE(relative_error(got.potential, expected.potential), bound) << order;
            }
        }
}

TEST(FmmOnGpu, NamesWhatItDoesNotHave) {
    NEEDS_GPU();
    const auto points = cloud(Cloud::cube, 100, 12);
    const auto q = charges(100, 13);
    SumOptions options{.kernel = Kernel::coulomb, .method = Method::fmm};
    options.device.kind = DeviceKind::cuda;
    options.order = 5;
    options.guaranteed = true;
    options.tolerance = 1e-3;
    EXPECT_THROW((void)computed(points, {}, q, options), InvalidArgument);
    options.guaranteed = false;
    options.tolerance = 0.0;
    options.m2l = M2L::rotation;
    EXPECT_THROW((void)computed(points, {}, q, options), InvalidArgument);
}

} // namespace
} // namespace farfield
