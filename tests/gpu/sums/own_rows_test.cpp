// Ranks with a GPU each, and points, strengths and results of their own, on the host or on GPUs.
#include "backend/cuda/device_scope.h"
#include "expect_error.h"
#include "gpu/needs_gpu.h"
#include "gpu/sums/gpu_arrays.h"
#include "gpu/sums/gpu_ranks.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace farfield {
namespace {

using test::by;
using test::compute;
using test::in_box;
using test::joined_of_ranks;
using test::numbers;
using test::Outputs;
using test::Part;
using test::told;
using test::Values;

// Points by columns, results in every second row: all on the rank's GPU, which is asked for or follows from
// them, and on that of another rank.
TEST(OwnRowsOnGpus, TakeArraysOfGpus) {
    NEEDS_GPU();
    constexpr std::size_t n = 3001;
    const auto points = numbers(3 * n, 1), strengths = numbers(n, 2);
    const int devices = static_cast<int>(gpus().size());
    for (const auto& asked : {by(Method::direct), by(Method::fmm), by(Method::treecode), by(Method::pme),
                              in_box(Method::fmm), in_box(Method::direct)})
        for (const auto& [apart, named] : {std::pair(0, true), std::pair(0, false), std::pair(1, true)}) {
            auto options = asked;
            if (options.method != Method::direct) options.tolerance = 1e-3;
            const auto one = compute(points, strengths, 0, n, options);
            Outputs joined{Values(n), Values(3 * n)};
            comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
                const Part part(*transport, n);
                auto mine = options;
                mine.device = {};
                if (named) mine.device = {.kind = DeviceKind::cuda, .gpus = {transport->rank() % devices}};
                mine.communicator = CommunicatorAccess::of(transport);
                const cuda::DeviceScope scope((transport->rank() + apart) % devices);
                const auto rows = static_cast<std::int64_t>(part.rows());
                const auto own = part.of(points, 3);
                Values columns(own.size());
                for (std::size_t i = 0; i < own.size(); ++i) columns[i % 3 * part.rows() + i / 3] = own[i];
                auto x = test::to_gpu(columns), q = test::to_gpu(part.of(strengths, 1));
                auto phi = test::to_gpu(Values(2 * part.rows(), -7.0));
                auto e = test::to_gpu(Values(3 * part.rows()));
                auto there = test::gpu_view(x, {rows, 3});
                there.strides = {1, rows};
                auto apart_rows = test::gpu_view(phi, {rows});
                apart_rows.strides = {2, 0};
                SumPlan plan(there, mine);
                plan.execute(test::gpu_view(q, {rows}),
                             {.potential = apart_rows, .field = test::gpu_view(e, {rows, 3})});
                const auto potential = test::to_host(phi), field = test::to_host(e);
                for (std::size_t i = 0; i < part.rows(); ++i) {
                    joined.potential[part.begin + i] = potential[2 * i];
                    EXPECT_EQ(potential[2 * i + 1], -7.0);
                }
                std::copy(field.begin(), field.end(),
                          joined.field.begin() + static_cast<std::ptrdiff_t>(3 * part.begin));
            });
            EXPECT_EQ(joined, one) << told(options) << ", " << apart << ", " << named;
        }
}

// Multipoles and the far field travel by themselves where sums are large.
TEST(OwnRowsOnGpus, ShareMultipolesOfManyPoints) {
    NEEDS_GPU();
    constexpr std::size_t n = 1000000;
    const auto points = numbers(3 * n, 1), strengths = numbers(n, 2);
    for (const double softening : {0.0, 0.05}) {
        const SumOptions options{.kernel = Kernel::coulomb,
                                 .method = Method::fmm,
                                 .softening = softening,
                                 .order = 14,
                                 .precision = Precision::mixed,
                                 .device = {.kind = DeviceKind::cuda}};
        const auto one = compute(points, strengths, 0, n, options);
        for (const int ranks : {2, 3})
            EXPECT_EQ(joined_of_ranks(ranks, points, strengths, options), one) << ranks;
        auto by_messages = options;
        by_messages.mpi_gpu = MpiGpu::on;
        by_messages.exchange = Exchange::host;
        EXPECT_EQ(joined_of_ranks(2, points, strengths, by_messages, true), one);
    }
}

void expect_targets_as_one_has(std::size_t n, std::size_t m, const SumOptions& options) {
    const auto points = numbers(3 * n, 1), targets = numbers(3 * m, 2), q = numbers(n, 3);
    const auto sum_on = [&](const SumOptions& mine, const Values& x, const Values& y,
                            const Values& strengths) {
        return sum(matrix_view(std::span(x), 3), matrix_view(std::span(y), 3),
                   {.charges = std::span(strengths)}, mine, Output::potential | Output::field);
    };
    const auto one = sum_on(options, points, targets, q);
    comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
        const Part sources(*transport, n), of_targets(*transport, m);
        auto mine = options;
        mine.communicator = CommunicatorAccess::of(std::move(transport));
        const auto got = sum_on(mine, sources.of(points, 3), of_targets.of(targets, 3), sources.of(q, 1));
        EXPECT_EQ(got.potential, of_targets.of(one.potential, 1)) << told(options);
        EXPECT_EQ(got.field, of_targets.of(one.field, 3)) << told(options);
        ASSERT_EQ(got.report.errors.size(), one.report.errors.size());
        for (std::size_t k = 0; k < one.report.errors.size(); ++k)
            EXPECT_NEAR(got.report.errors[k].relative, one.report.errors[k].relative,
                        1e-6 * one.report.errors[k].relative);
    });
}

TEST(OwnRowsOnGpus, TakeTargetsOfTheirOwn) {
    NEEDS_GPU();
    for (const auto& asked : {by(Method::fmm), by(Method::treecode), by(Method::pme), in_box(Method::fmm)}) {
        auto options = asked;
        options.precision = Precision::automatic;
        options.tolerance = 1e-4;
        expect_targets_as_one_has(6000, 1501, options);
    }
}

// So many that ranks share multipoles: of leaves, too, that hold sources alone.
TEST(OwnRowsOnGpus, ShareMultipolesForFewTargets) {
    NEEDS_GPU();
    for (const double softening : {0.0, 0.05}) {
        auto options = by(Method::fmm);
        options.softening = softening;
        options.order = 14;
        options.precision = Precision::mixed;
        expect_targets_as_one_has(1000000, 3001, options);
    }
}

/// Two of them meet, which lie on two ranks.
Values points_that_meet(std::size_t n) {
    auto points = numbers(3 * n, 1);
    for (std::size_t k = 0; k < 3; ++k) points[3 * (n - 10) + k] = points[3 * 5 + k];
    return points;
}

// One of the ranks finds what is not finite.
TEST(OwnRowsOnGpus, SkipOrRefuseCoincidentPoints) {
    NEEDS_GPU();
    constexpr std::size_t n = 4000;
    const auto points = points_that_meet(n), strengths = numbers(n, 2);
    for (const auto& asked : {by(Method::fmm), by(Method::treecode), by(Method::pme), in_box(Method::fmm)}) {
        auto options = asked;
        if (options.period[0] == 0.0) options.order = 5;
        options.coincident = Coincident::skip;
        const auto one = compute(points, strengths, 0, n, options);
        EXPECT_EQ(joined_of_ranks(3, points, strengths, options), one) << told(options);
        options.coincident = Coincident::error;
        EXPECT_THROW(joined_of_ranks(3, points, strengths, options), InvalidArgument);
    }
}

// Of even parts each rank sums for its own targets, of uneven ones for others' as well.
TEST(OwnRowsOnGpus, CountCoincidentPairsOnce) {
    NEEDS_GPU();
    constexpr std::size_t n = 3000;
    const auto points = points_that_meet(n), strengths = numbers(n, 2);
    for (const auto& asked : {by(Method::fmm), by(Method::treecode), by(Method::pme), in_box(Method::fmm),
                              in_box(Method::direct)})
        for (const bool even : {true, false})
            comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
                const auto rank = static_cast<std::size_t>(transport->rank());
                const Part uneven(*transport, n);
                const auto begin = even ? n * rank / 3 : uneven.begin,
                           end = even ? n * (rank + 1) / 3 : uneven.end;
                auto options = asked;
                options.tolerance = 1e-5;
                options.coincident = Coincident::skip;
                options.communicator = CommunicatorAccess::of(std::move(transport));
                SumPlan plan(
                    matrix_view(std::span<const double>(points).subspan(3 * begin, 3 * (end - begin)), 3),
                    options);
                Values phi(end - begin);
                plan.execute(std::span<const double>(strengths).subspan(begin, end - begin),
                             {.potential = std::span(phi)});
                EXPECT_EQ(plan.report().direct.coincident_pairs_skipped, 2) << told(asked) << even;
            });
}

// One vector or several, dipoles, and the energy of all.
TEST(OwnRowsOnGpus, GiveTheirOwnStrengths) {
    NEEDS_GPU();
    constexpr std::size_t n = 2000, vectors = 5;
    const auto points = numbers(3 * n, 1), strengths = numbers(vectors * n, 2), dipoles = numbers(3 * n, 3);
    SumOptions options{.kernel = Kernel::coulomb,
                       .method = Method::fmm,
                       .tolerance = 1e-4,
                       .outputs = Output::potential | Output::field,
                       .device = {.kind = DeviceKind::cuda}};
    const auto compute_on = [&](SumOptions with, std::size_t count, bool with_dipoles, const Part* part,
                                std::optional<double>& energy) {
        with.dipoles = with_dipoles;
        const auto own = [&](const Values& all, std::size_t width) {
            return part ? part->of(all, width) : all;
        };
        const auto x = own(points, 3), p = own(dipoles, 3);
        const Values all(strengths.begin(), strengths.begin() + static_cast<std::ptrdiff_t>(count * n));
        const auto q = own(all, count);
        Values phi(q.size()), e(3 * q.size());
        const auto width = static_cast<std::int64_t>(count);
        SumPlan plan(matrix_view(std::span(x), 3), with);
        SumStrengths given{.charges = matrix_view(std::span(q), width)};
        if (with_dipoles) given.dipoles = matrix_view(std::span(p), 3);
        plan.execute(given, {.potential = matrix_view(std::span(phi), width),
                             .field = matrix_view(std::span(e), 3 * width)});
        energy = plan.report().energy;
        return phi;
    };
    for (const bool with_dipoles : {false, true})
        for (const std::size_t count : {std::size_t{1}, vectors}) {
            if (with_dipoles && count > 1) continue;
            std::optional<double> energy;
            const auto one = compute_on(options, count, with_dipoles, nullptr, energy);
            EXPECT_EQ(energy.has_value(), count == 1);
            Values joined(count * n);
            comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
                const Part part(*transport, n);
                auto mine = options;
                mine.communicator = CommunicatorAccess::of(std::move(transport));
                std::optional<double> of_ranks;
                const auto own = compute_on(mine, count, with_dipoles, &part, of_ranks);
                std::copy(own.begin(), own.end(),
                          joined.begin() + static_cast<std::ptrdiff_t>(count * part.begin));
                ASSERT_EQ(of_ranks.has_value(), energy.has_value());
                if (energy.has_value()) {
                    EXPECT_NEAR(*of_ranks, *energy, 1e-12 * std::abs(*energy));
                }
            });
            EXPECT_EQ(joined, one) << count << ", " << with_dipoles;
        }
}

TEST(OwnRowsOnGpus, NameRowsThatAreNotFinite) {
    NEEDS_GPU();
    constexpr std::size_t n = 300;
    const auto points = numbers(3 * n, 1);
    comm::run_ranks(2, [&](std::shared_ptr<comm::Transport> transport) {
        SumOptions options{.kernel = Kernel::coulomb,
                           .method = Method::treecode,
                           .precision = Precision::float64,
                           .device = {.kind = DeviceKind::cuda}};
        auto own = points;
        if (transport->rank() == 1) own[3 * 17 + 1] = HUGE_VAL;
        options.communicator = CommunicatorAccess::of(std::move(transport));
        test::expect_contains(test::error_of<InvalidArgument>(
                                  [&] { SumPlan(matrix_view(std::span<const double>(own), 3), options); }),
                              {"sources of rank 1", "row 17", "y = inf"});
        own[3 * 17 + 1] = 0.0;
        SumPlan plan(matrix_view(std::span<const double>(own), 3), options);
        Values q(n, 1.0), phi(n);
        if (options.communicator.rank() == 1) q[5] = NAN;
        test::expect_contains(test::error_of<InvalidArgument>([&] {
                                  plan.execute(std::span<const double>(q), {.potential = std::span(phi)});
                              }),
                              {"strengths of rank 1", "row 5", "nan"});
    });
}

// Points too near each other for floats beside one far off, on different ranks.
TEST(OwnRowsOnGpus, GoDoubleWhereFloatsLosePairs) {
    NEEDS_GPU();
    const Values points{1e-44, 0, 0, 3e-44, 0, 0, 1, 1, 1, -1, -1, -1}, strengths{1, 1, 1, 1};
    SumOptions options{.kernel = Kernel::gravity,
                       .method = Method::fmm,
                       .tolerance = 1e-3,
                       .order = 4,
                       .device = {.kind = DeviceKind::cuda}};
    const auto one = compute(points, strengths, 0, 4, options);
    EXPECT_EQ(joined_of_ranks(3, points, strengths, options), one);
    options.precision = Precision::float32;
    EXPECT_THROW(compute(points, strengths, 0, 4, options), InvalidArgument);
    EXPECT_THROW(joined_of_ranks(3, points, strengths, options), InvalidArgument);
}

} // namespace
} // namespace farfield
