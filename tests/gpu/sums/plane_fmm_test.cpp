// Fast multipole sums in the plane on a GPU against direct sums of the host.
//
// Errors: an order p at separation 1 leaves about 10^−(1.5 + 0.36 p), of separation 2 10^−(1.5 + 0.62 p)
// (fmm/plane/plane_shape.cpp), here with a factor of 10.
#include "gpu/needs_gpu.h"
#include "gpu/sums/fmm_clouds.h"
#include "gpu/sums/gpu_ranks.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace farfield {
namespace {

using test::charges;
using test::Cloud;
using test::Part;
using test::relative_error;
using test::Values;

/// N×2
Values plane_cloud(Cloud kind, int n, unsigned seed) {
    const auto points = test::cloud(kind, n, seed);
    Values out;
    for (std::size_t i = 0; i < points.size(); i += 3) out.insert(out.end(), {points[i], points[i + 1]});
    return out;
}

struct PlaneCase {
    Kernel kernel = Kernel::laplace2d;
    Values sources, targets, q; ///< targets are the sources where there are none
    int columns = 2;            ///< of strengths
};

struct PlaneValues {
    Values potential, field;
    SumReport report;
};

enum class Wanted { both, potential, field };

/// @param apart  there are targets, if none of this rank
PlaneValues computed(const PlaneCase& of, const SumOptions& options, Wanted wanted = Wanted::both,
                     bool apart = false) {
    const auto view = [](const Values& values, int columns) {
        return matrix_view(std::span<const double>(values), columns);
    };
    const auto out_view = [](Values& values, int columns) {
        return matrix_view(std::span<double>(values), columns);
    };
    const bool self = of.targets.empty() && !apart;
    const std::size_t m = (self ? of.sources : of.targets).size() / 2;
    PlaneValues out;
    SumOutputs outputs;
    if (wanted != Wanted::field) {
        out.potential.resize(m * static_cast<std::size_t>(of.columns));
        outputs.potential = of.columns == 1 ? ArrayView(std::span<double>(out.potential))
                                            : out_view(out.potential, of.columns);
    }
    if (wanted != Wanted::potential) {
        out.field.resize(2 * m);
        outputs.field = out_view(out.field, 2);
    }
    auto plan = self ? SumPlan(view(of.sources, 2), options)
                     : SumPlan(view(of.sources, 2), view(of.targets, 2), options);
    plan.execute(of.columns == 1 ? ConstArrayView(std::span<const double>(of.q)) : view(of.q, of.columns),
                 outputs);
    out.report = plan.report();
    return out;
}

Values complex_charges(int n, unsigned seed, bool real) {
    auto q = charges(2 * n, seed);
    for (std::size_t i = 1; real && i < q.size(); i += 2) q[i] = 0.0;
    return q;
}

SumOptions on_cpu(const PlaneCase& of, double sigma = 0.0) {
    SumOptions options{.kernel = of.kernel, .method = Method::direct};
    options.precision = Precision::float64;
    options.sigma = sigma;
    options.device.kind = DeviceKind::cpu;
    return options;
}

SumOptions on_gpu(const PlaneCase& of, int order, int leaf, double sigma = 0.0) {
    auto options = on_cpu(of, sigma);
    options.method = Method::fmm;
    options.device.kind = DeviceKind::cuda;
    options.order = order;
    options.leaf = leaf;
    return options;
}

void expect_close(const PlaneValues& got, const PlaneValues& exact, double bound) {
    if (!got.potential.empty()) {
        EXPECT_LT(relative_error(got.potential, exact.potential), bound);
    }
    if (!got.field.empty()) {
        EXPECT_LT(relative_error(got.field, exact.field), bound);
    }
}

double truncation(int order, int separation = 1) {
    return 10.0 * std::pow(10.0, -(1.5 + (separation == 1 ? 0.36 : 0.62) * order));
}

constexpr Cloud clouds[] = {Cloud::cube, Cloud::clustered, Cloud::sphere, Cloud::line, Cloud::apart};

TEST(PlaneFmmOnGpu, IsAsAccurateAsItsOrder) {
    NEEDS_GPU();
    constexpr int n = 4000;
    for (const auto kind : clouds)
        for (const int m : {0, 900})
            for (const bool real : {true, false}) {
                SCOPED_TRACE("cloud " + std::to_string(static_cast<int>(kind)) + ", targets " +
                             std::to_string(m) + (real ? ", real" : ", complex"));
                const PlaneCase of{.sources = plane_cloud(kind, n, 3),
                                   .targets = plane_cloud(kind, m, 4),
                                   .q = complex_charges(n, 5, real)};
                const auto exact = computed(of, on_cpu(of));
                for (const int order : {3, 8, 14, 17, 30, 36}) {
                    auto options = on_gpu(of, order, 10);
                    const auto got = computed(of, options);
                    expect_close(got, exact, truncation(order) + 1e-12);
                    const auto again = computed(of, options);
                    EXPECT_EQ(got.potential, again.potential); // the same bits
                    EXPECT_EQ(got.field, again.field);
                    for (const auto wanted : {Wanted::potential, Wanted::field}) {
                        auto alone = computed(of, options, wanted);
                        expect_close(alone, exact, truncation(order) + 1e-12);
                    }
                    options.precision = Precision::mixed;
                    expect_close(computed(of, options), exact, truncation(order) + 3e-6);
                    options.precision = Precision::float32;
                    expect_close(computed(of, options), exact, truncation(order) + 3e-5);
                }
                if (HasFailure()) return;
            }
}

TEST(PlaneFmmOnGpu, TakesTreesOfAllShapes) {
    NEEDS_GPU();
    constexpr int n = 5000;
    const PlaneCase of{
        .sources = plane_cloud(Cloud::cube, n, 3), .targets = {}, .q = complex_charges(n, 5, false)};
    const auto exact = computed(of, on_cpu(of));
    for (const int depth : {0, 1, 2, 5}) {
        auto options = on_gpu(of, 12, 0);
        options.depth = depth;
        expect_close(computed(of, options), exact, truncation(12));
    }
    for (const int leaf : {3, 7, 12, 25, 60, 200, 3000}) // grids of 1, 3, 5 and 7 times 2^l
        expect_close(computed(of, on_gpu(of, 12, leaf)), exact, truncation(12));
    auto wide = on_gpu(of, 9, 8);
    wide.separation = 2;
    expect_close(computed(of, wide), exact, truncation(9, 2));
}

// So far apart in size that points act on expansions, and expansions on points.
TEST(PlaneFmmOnGpu, TakesLeavesOfUnlikeSize) {
    NEEDS_GPU();
    PlaneCase of{.sources = plane_cloud(Cloud::cube, 3000, 3), .targets = {}, .q = {}};
    for (auto& x : of.sources) x = 0.3001 + 1e-5 * x;
    const auto others = plane_cloud(Cloud::cube, 3000, 4);
    of.sources.insert(of.sources.end(), others.begin(), others.end());
    of.q = complex_charges(6000, 5, false);
    const auto exact = computed(of, on_cpu(of));
    for (const int leaf : {10, 150}) expect_close(computed(of, on_gpu(of, 20, leaf)), exact, truncation(20));
    of.targets = plane_cloud(Cloud::cube, 500, 8);
    expect_close(computed(of, on_gpu(of, 20, 100)), computed(of, on_cpu(of)), truncation(20));
}

TEST(PlaneFmmOnGpu, ReachesTolerances) {
    NEEDS_GPU();
    const PlaneCase of{.sources = plane_cloud(Cloud::clustered, 20000, 6),
                       .targets = {},
                       .q = complex_charges(20000, 7, false)};
    for (const double tolerance : {1e-2, 1e-4, 1e-7, 1e-10, 1e-12}) {
        SumOptions options{.kernel = Kernel::laplace2d, .method = Method::fmm};
        options.device.kind = DeviceKind::cuda;
        options.tolerance = tolerance;
        const auto got = computed(of, options);
        EXPECT_EQ(got.report.errors.size(), 2U);
        for (const auto& error : got.report.errors) EXPECT_LE(error.relative, tolerance);
        EXPECT_EQ(got.report.device.kind, DeviceKind::cuda);
        expect_close(got, computed(of, on_cpu(of)), 3.0 * tolerance);
    }
}

TEST(PlaneFmmOnGpu, MovesVortices) {
    NEEDS_GPU();
    constexpr int n = 4000;
    for (const double sigma : {0.0, 0.003, 0.05, 2.0})
        for (const auto kind : {Cloud::cube, Cloud::clustered}) {
            const PlaneCase of{.kernel = Kernel::vortex2d,
                               .sources = plane_cloud(kind, n, 3),
                               .targets = {},
                               .q = charges(n, 5),
                               .columns = 1};
            const auto exact = computed(of, on_cpu(of, sigma));
            auto options = on_gpu(of, 24, 12, sigma);
            expect_close(computed(of, options), exact, truncation(24) + 1e-11);
            expect_close(computed(of, options, Wanted::field), exact, truncation(24) + 1e-11);
            options.precision = Precision::mixed;
            expect_close(computed(of, options), exact, 1e-5);
        }
}

// Low orders keep no sources in double: pairs far closer than a leaf is wide are mended all the same.
TEST(PlaneFmmOnGpu, MendsClosePairsAtLowOrders) {
    NEEDS_GPU();
    constexpr int n = 4000, order = 9;
    for (const double sigma : {0.0, 0.003})
        for (const bool self : {true, false}) {
            PlaneCase of{.kernel = Kernel::vortex2d,
                         .sources = plane_cloud(Cloud::cube, n, 7),
                         .targets = {},
                         .q = charges(n, 9),
                         .columns = 1};
            for (std::size_t i = 0; i < n; i += 2) { // each second point beside the one before
                of.sources[2 * i + 2] = of.sources[2 * i] + 3e-6;
                of.sources[2 * i + 3] = of.sources[2 * i + 1] - 2e-6;
            }
            if (!self) {
                of.targets = of.sources;
                for (auto& x : of.targets) x += 1e-6;
            }
            auto options = on_gpu(of, order, 12, sigma);
            options.precision = Precision::mixed;
            expect_close(computed(of, options), computed(of, on_cpu(of, sigma)), truncation(order));
        }
}

TEST(PlaneFmmOnGpu, TakesPointsOfAnyScale) {
    NEEDS_GPU();
    constexpr int n = 2000;
    for (const double scale : {1e-20, 1.0, 1e20})
        for (const double offset : {0.0, 1e6}) {
            PlaneCase of{
                .sources = plane_cloud(Cloud::cube, n, 3), .targets = {}, .q = complex_charges(n, 5, false)};
            for (auto& x : of.sources) x = scale * (offset + x);
            for (auto& q : of.q) q *= scale;
            for (const auto precision : {Precision::float64, Precision::mixed}) {
                auto options = on_gpu(of, 24, 10);
                options.precision = precision;
                expect_close(computed(of, options), computed(of, on_cpu(of)),
                             precision == Precision::float64 ? 1e-9 : 1e-5);
            }
        }
}

TEST(PlaneFmmOnGpu, SkipsOrNamesCoincidentPoints) {
    NEEDS_GPU();
    PlaneCase of{
        .sources = plane_cloud(Cloud::cube, 3000, 8), .targets = {}, .q = complex_charges(3000, 9, false)};
    std::copy(of.sources.begin(), of.sources.begin() + 2, of.sources.begin() + 400);
    auto options = on_gpu(of, 20, 10);
    EXPECT_THROW((void)computed(of, options), InvalidArgument);
    options.coincident = Coincident::skip;
    auto direct = on_cpu(of);
    direct.coincident = Coincident::skip;
    const auto got = computed(of, options);
    expect_close(got, computed(of, direct), truncation(20));
    EXPECT_EQ(got.report.direct.coincident_pairs_skipped, 2);
}

TEST(PlaneFmmOnGpu, TakesFewPoints) {
    NEEDS_GPU();
    for (const int n : {0, 1, 2, 3})
        for (const int m : {0, 2}) {
            const PlaneCase of{.sources = plane_cloud(Cloud::cube, n, 10),
                               .targets = plane_cloud(Cloud::cube, m, 12),
                               .q = complex_charges(n, 11, false)};
            const auto got = computed(of, on_gpu(of, 5, 0));
            const auto exact = computed(of, on_cpu(of));
            ASSERT_EQ(got.field.size(), exact.field.size());
            for (std::size_t i = 0; i < exact.field.size(); ++i)
                EXPECT_NEAR(got.field[i], exact.field[i], 1e-12 * (1.0 + std::abs(exact.field[i])));
        }
}

/// What ranks compute, each with a part of the points; the last rank has none.
PlaneValues joined_of_ranks(int ranks, const PlaneCase& of, const SumOptions& options) {
    const std::size_t n = of.sources.size() / 2, m = of.targets.size() / 2, rows = m == 0 ? n : m;
    const auto columns = static_cast<std::size_t>(of.columns);
    PlaneValues joined{Values(rows * columns), Values(2 * rows), {}};
    comm::run_ranks(ranks, [&](std::shared_ptr<comm::Transport> transport) {
        const int rank = transport->rank();
        const Part sources(*transport, n), targets(*transport, m);
        const PlaneCase mine{.kernel = of.kernel,
                             .sources = sources.of(of.sources, 2),
                             .targets = targets.of(of.targets, 2),
                             .q = sources.of(of.q, columns),
                             .columns = of.columns};
        auto with = options;
        with.communicator = CommunicatorAccess::of(std::move(transport));
        const auto own = computed(mine, with, Wanted::both, m > 0);
        const auto begin = static_cast<std::ptrdiff_t>(m == 0 ? sources.begin : targets.begin);
        std::copy(own.potential.begin(), own.potential.end(), joined.potential.begin() + begin * of.columns);
        std::copy(own.field.begin(), own.field.end(), joined.field.begin() + 2 * begin);
        if (rank == 0) joined.report = own.report;
    });
    return joined;
}

void expect_bits_of_one(const PlaneCase& of, const SumOptions& options) {
    const auto one = computed(of, options);
    for (const int ranks : {2, 3, 8}) {
        const auto got = joined_of_ranks(ranks, of, options);
        EXPECT_EQ(got.potential, one.potential) << ranks << " ranks";
        EXPECT_EQ(got.field, one.field) << ranks << " ranks";
        EXPECT_EQ(got.report.fmm.near_pairs, one.report.fmm.near_pairs);
        EXPECT_EQ(got.report.fmm.multiply_adds, one.report.fmm.multiply_adds);
        EXPECT_EQ(got.report.direct.coincident_pairs_skipped, one.report.direct.coincident_pairs_skipped);
    }
}

TEST(PlaneFmmOnGpu, OfRanksHasTheBitsOfOne) {
    NEEDS_GPU();
    for (const auto kind : clouds)
        for (const int n : {1, 9, 4000})
            for (const int m : {0, 900})
                for (const bool real : {true, false}) {
                    SCOPED_TRACE("cloud " + std::to_string(static_cast<int>(kind)) + ", " +
                                 std::to_string(n) + " points, targets " + std::to_string(m) +
                                 (real ? ", real" : ", complex"));
                    const PlaneCase of{.sources = plane_cloud(kind, n, 3),
                                       .targets = plane_cloud(kind, m, 4),
                                       .q = complex_charges(n, 5, real)};
                    for (const int order : {5, 20})
                        for (const auto precision : {Precision::mixed, Precision::float64}) {
                            auto options = on_gpu(of, order, 10);
                            options.precision = precision;
                            expect_bits_of_one(of, options);
                        }
                    if (HasFailure()) return;
                }
}

// Of vortices with cores, and where points act on expansions, on some ranks alone.
TEST(PlaneFmmOnGpu, OfRanksTakesCoresAndLeavesOfUnlikeSize) {
    NEEDS_GPU();
    PlaneCase of{.kernel = Kernel::vortex2d,
                 .sources = plane_cloud(Cloud::cube, 3000, 3),
                 .targets = {},
                 .q = charges(6000, 5),
                 .columns = 1};
    for (auto& x : of.sources) x = 0.3001 + 1e-5 * x;
    const auto others = plane_cloud(Cloud::cube, 3000, 4);
    of.sources.insert(of.sources.end(), others.begin(), others.end());
    for (const double sigma : {0.0, 0.003})
        for (const int order : {7, 20})
            for (const int leaf : {10, 150})
                for (const auto precision : {Precision::mixed, Precision::float64}) {
                    auto options = on_gpu(of, order, leaf, sigma);
                    options.precision = precision;
                    expect_bits_of_one(of, options);
                }
}

TEST(PlaneFmmOnGpu, OfRanksKeepsTolerancesAndSkipsCoincidentPoints) {
    NEEDS_GPU();
    PlaneCase of{.sources = plane_cloud(Cloud::clustered, 3000, 8),
                 .targets = {},
                 .q = complex_charges(3000, 9, false)};
    std::copy(of.sources.begin(), of.sources.begin() + 2, of.sources.end() - 400);
    auto options = on_gpu(of, 0, 0);
    options.precision = Precision::automatic;
    options.tolerance = 1e-6;
    EXPECT_THROW((void)joined_of_ranks(3, of, options), InvalidArgument);
    options.coincident = Coincident::skip;
    expect_bits_of_one(of, options);
    EXPECT_EQ(joined_of_ranks(3, of, options).report.direct.coincident_pairs_skipped, 2);
}

TEST(PlaneFmmOnGpu, RefusesWhatIsNotFinite) {
    NEEDS_GPU();
    PlaneCase of{
        .sources = plane_cloud(Cloud::cube, 100, 8), .targets = {}, .q = complex_charges(100, 9, false)};
    auto bad = of;
    bad.q[7] = NAN;
    const auto message_of = [](const PlaneCase& sum) {
        try {
            (void)computed(sum, on_gpu(sum, 5, 0));
        } catch (const InvalidArgument& error) {
            return std::string(error.what());
        }
        return std::string("none");
    };
    EXPECT_NE(message_of(bad).find("row 3"), std::string::npos) << message_of(bad);
    bad = of;
    bad.sources[11] = INFINITY;
    EXPECT_NE(message_of(bad).find("row 5 has y = inf"), std::string::npos) << message_of(bad);
}

} // namespace
} // namespace farfield
