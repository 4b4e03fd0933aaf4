// Sums whose ranks have a GPU each: the bits of one GPU. Ranks are threads here; GPUs are dealt out in
// turn, so that one GPU plays several.
#include "backend/comm/communicator_access.h"
#include "backend/comm/in_process.h"
#include "expect_error.h"
#include "gpu/needs_gpu.h"
#include "gpu/sums/gpu_ranks.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

namespace farfield {
namespace {

using test::by;
using test::compute;
using test::in_box;
using test::joined_of_ranks;
using test::numbers;
using test::Outputs;
using test::told;
using test::Values;

void expect_bits_of_one(std::size_t n, const SumOptions& options) {
    const auto points = numbers(3 * n, 1), strengths = numbers(n, 2);
    const auto one = compute(points, strengths, 0, n, options);
    for (const int ranks : {2, 3, 8})
        EXPECT_EQ(joined_of_ranks(ranks, points, strengths, options), one)
            << n << " bodies on " << ranks << " ranks";
}

TEST(RanksOnGpus, HaveTheBitsOfOne) {
    NEEDS_GPU();
    for (const std::size_t n : {1UL, 700UL, 5000UL, 40000UL})
        for (const auto precision : {Precision::float32, Precision::mixed, Precision::float64})
            for (const auto variant : {Variant::automatic, Variant::register_tile}) {
                const SumOptions options{.kernel = Kernel::coulomb,
                                         .precision = precision,
                                         .variant = variant,
                                         .device = {.kind = DeviceKind::cuda}};
                expect_bits_of_one(n, options);
            }
}

TEST(RanksOnGpus, ExpandWithTheBitsOfOne) {
    NEEDS_GPU();
    for (const std::size_t n : {1UL, 700UL, 20000UL})
        for (const auto precision : {Precision::mixed, Precision::float64})
            for (const double softening : {0.0, 0.05}) {
                const SumOptions options{.kernel = Kernel::coulomb,
                                         .method = Method::fmm,
                                         .softening = softening,
                                         .order = 7,
                                         .leaf = 20,
                                         .precision = precision,
                                         .device = {.kind = DeviceKind::cuda}};
                expect_bits_of_one(n, options);
            }
}

TEST(RanksOnGpus, WalkWithTheBitsOfOne) {
    NEEDS_GPU();
    for (const std::size_t n : {1UL, 50UL, 700UL, 30000UL})
        for (const auto precision : {Precision::float32, Precision::mixed, Precision::float64}) {
            const SumOptions options{.kernel = Kernel::coulomb,
                                     .method = Method::treecode,
                                     .tolerance = 1e-3,
                                     .precision = precision,
                                     .device = {.kind = DeviceKind::cuda}};
            expect_bits_of_one(n, options);
        }
}

TEST(RanksOnGpus, SumBoxesWithTheBitsOfOne) {
    NEEDS_GPU();
    for (const auto method : {Method::pme, Method::ewald, Method::fmm, Method::direct}) {
        const bool by_images = method == Method::fmm || method == Method::direct;
        for (const std::size_t n : {1UL, 7UL, 700UL, 9001UL})
            for (const auto boundary : {Boundary::tin_foil, Boundary::vacuum})
                for (const double softening : {0.0, 0.05}) {
                    // operators of softened far images take long to make
                    const bool makes_operators = by_images && softening > 0.0;
                    if (makes_operators && n != 700) continue;
                    auto options = in_box(method);
                    options.softening = softening;
                    if (makes_operators) options.tolerance = 1e-3;
                    if (n < 100) options.tolerance = 0.0; // of one charge the field is its rounding
                    options.boundary = boundary;
                    if (boundary == Boundary::vacuum) options.background = Background::none;
                    const auto points = numbers(3 * n, 1);
                    auto strengths = numbers(n, 2);
                    if (boundary == Boundary::vacuum) // such a box has to be neutral
                        for (std::size_t i = 0; i < n; ++i)
                            strengths[i] = i + 1 == n && n % 2 == 1 ? 0.0 : i % 2 == 0 ? 1.0 : -1.0;
                    const auto one = compute(points, strengths, 0, n, options);
                    for (const int ranks : {2, 3, 8})
                        EXPECT_EQ(joined_of_ranks(ranks, points, strengths, options), one)
                            << name_of(method) << ": " << n << " charges on " << ranks << " ranks";
                }
    }
}

TEST(RanksOnGpus, SumAlongOpenAxesWithTheBitsOfOne) {
    NEEDS_GPU();
    for (const auto method : {Method::fmm, Method::direct})
        for (const auto& period : {std::array{4.0, 4.0, 0.0}, std::array{0.0, 4.0, 0.0}})
            for (const auto precision : {Precision::mixed, Precision::float64}) {
                auto options = in_box(method);
                options.period = period;
                options.background = Background::none;
                options.precision = precision;
                options.tolerance = 1e-4;
                constexpr std::size_t n = 6000;
                const auto points = numbers(3 * n, 1);
                Values strengths(n);
                for (std::size_t i = 0; i < n; ++i) strengths[i] = i % 2 == 0 ? 1.0 : -1.0;
                const auto one = compute(points, strengths, 0, n, options);
                for (const int ranks : {2, 3})
                    EXPECT_EQ(joined_of_ranks(ranks, points, strengths, options), one)
                        << name_of(method) << " on " << ranks << " ranks";
            }
}

// The wish of one rank is the wish of all.
TEST(RanksOnGpus, StopInABoxWhereOneAsks) {
    NEEDS_GPU();
    const auto points = numbers(3000, 1), strengths = numbers(1000, 2);
    for (const auto method : {Method::pme, Method::ewald, Method::fmm, Method::direct})
        comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
            auto mine = in_box(method);
            const bool asks = transport->rank() == 1;
            mine.communicator =
                CommunicatorAccess::with_everything(CommunicatorAccess::of(std::move(transport)));
            SumPlan plan(matrix_view(std::span<const double>(points), 3), mine);
            Values phi(1000, -7.0);
            for (const int looks : {0, 1, 2}) {
                if (looks > 1 && method == Method::direct) continue; // once before and once after all pairs
                int looked = 0;
                EXPECT_THROW(plan.execute(std::span<const double>(strengths), {.potential = std::span(phi)},
                                          {.progress = {},
                                           .stop_requested = [&] { return asks && looked++ >= looks; }}),
                             Interrupted);
            }
            EXPECT_EQ(phi, Values(1000, -7.0));
            plan.execute(std::span<const double>(strengths), {.potential = std::span(phi)});
            EXPECT_NE(phi[0], -7.0);
        });
}

// Ranks that are threads read no memory by CUDA's handles: all goes by messages.
TEST(RanksOnGpus, SendMemoryOfGpus) {
    NEEDS_GPU();
    constexpr std::size_t n = 20000;
    const auto points = numbers(3 * n, 1), strengths = numbers(n, 2);
    for (const auto method : {Method::direct, Method::fmm, Method::treecode, Method::pme}) {
        auto options = by(method);
        if (method != Method::pme) options.precision = Precision::mixed;
        options.exchange = Exchange::host;
        if (method != Method::direct) options.tolerance = 1e-3;
        const auto one = compute(points, strengths, 0, n, options);
        options.mpi_gpu = MpiGpu::on;
        for (const int ranks : {2, 3, 8})
            EXPECT_EQ(joined_of_ranks(ranks, points, strengths, options, true), one)
                << name_of(method) << " on " << ranks << " ranks";
        EXPECT_THROW(joined_of_ranks(2, points, strengths, options), BackendUnavailable);
    }
}

// At separate targets, too, whose walks are counted once.
TEST(RanksOnGpus, WalkForSeparateTargetsAsOneGpuDoes) {
    NEEDS_GPU();
    constexpr std::size_t n = 6000, m = 4001;
    const auto points = numbers(3 * n, 1), targets = numbers(3 * m, 2), q = numbers(n, 3);
    const SumOptions options{.kernel = Kernel::coulomb,
                             .method = Method::treecode,
                             .tolerance = 1e-4,
                             .device = {.kind = DeviceKind::cuda}};
    for (const bool separate : {false, true}) {
        const auto sum_on = [&](const SumOptions& mine) {
            const auto from = matrix_view(std::span(points), 3);
            const auto outputs = Output::potential | Output::field;
            const SumStrengths strengths{.charges = std::span(q)};
            return separate ? sum(from, matrix_view(std::span(targets), 3), strengths, mine, outputs)
                            : sum(from, strengths, mine, outputs);
        };
        const auto one = sum_on(options);
        comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
            auto mine = options;
            mine.communicator =
                CommunicatorAccess::with_everything(CommunicatorAccess::of(std::move(transport)));
            const auto got = sum_on(mine);
            EXPECT_EQ(got.potential, one.potential);
            EXPECT_EQ(got.field, one.field);
            EXPECT_EQ(got.report.treecode.near_pairs, one.report.treecode.near_pairs);
            EXPECT_EQ(got.report.treecode.far_pairs, one.report.treecode.far_pairs);
        });
    }
}

// With separate targets, dipoles and second derivatives, all of which every rank gives.
TEST(RanksOnGpus, ExpandWhatOneGpuDoes) {
    NEEDS_GPU();
    constexpr std::size_t n = 3000, m = 500;
    const auto points = numbers(3 * n, 1), targets = numbers(3 * m, 2), q = numbers(n, 3),
               p = numbers(3 * n, 4);
    SumOptions options{.kernel = Kernel::coulomb,
                       .method = Method::fmm,
                       .tolerance = 1e-4,
                       .leaf = 20,
                       .device = {.kind = DeviceKind::cuda}};
    options.dipoles = true;
    const auto compute_on = [&](const SumOptions& mine) {
        return sum(matrix_view(std::span(points), 3), matrix_view(std::span(targets), 3),
                   {.charges = std::span(q), .dipoles = matrix_view(std::span(p), 3)}, mine,
                   Output::potential | Output::field | Output::hessian);
    };
    const auto one = compute_on(options);
    comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
        auto mine = options;
        mine.communicator = CommunicatorAccess::with_everything(CommunicatorAccess::of(std::move(transport)));
        const auto got = compute_on(mine);
        EXPECT_EQ(got.potential, one.potential);
        EXPECT_EQ(got.field, one.field);
        EXPECT_EQ(got.hessian, one.hessian);
        EXPECT_EQ(got.report.fmm.order, one.report.fmm.order);
    });
}

// A part of the targets on each GPU.
void expect_targets_are_shared(std::size_t n, std::size_t m, const SumOptions& options) {
    const auto points = numbers(3 * n, 1), targets = numbers(3 * m, 2), q = numbers(n, 3);
    const auto sum_on = [&](const SumOptions& mine) {
        return sum(matrix_view(std::span(points), 3), matrix_view(std::span(targets), 3),
                   {.charges = std::span(q)}, mine, Output::potential | Output::field);
    };
    const auto one = sum_on(options);
    comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
        auto mine = options;
        mine.communicator = CommunicatorAccess::with_everything(CommunicatorAccess::of(std::move(transport)));
        const auto got = sum_on(mine);
        EXPECT_EQ(got.report.device.kind, DeviceKind::cuda);
        EXPECT_EQ(got.potential, one.potential) << told(options);
        EXPECT_EQ(got.field, one.field) << told(options);
    });
}

TEST(RanksOnGpus, ShareSeparateTargets) {
    NEEDS_GPU();
    for (auto options : {by(Method::direct), by(Method::pme), by(Method::ewald), in_box(Method::direct),
                         in_box(Method::fmm)}) {
        options.tolerance = 1e-5;
        expect_targets_are_shared(6000, 4001, options);
    }
}

// Of some ranks no target is.
TEST(RanksOnGpus, ShareFewSeparateTargets) {
    NEEDS_GPU();
    auto soft = in_box(Method::fmm);
    soft.softening = 0.3;
    soft.tolerance = 1e-3;
    for (const auto& options : {by(Method::direct), in_box(Method::direct), in_box(Method::fmm), soft})
        expect_targets_are_shared(500, 2, options);
}

void expect_near(const Values& found, const Values& expected, double tolerance) {
    ASSERT_EQ(found.size(), expected.size());
    double largest = 0.0;
    for (const double value : expected) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < found.size(); ++i)
        ASSERT_NEAR(found[i], expected[i], tolerance * largest) << i;
}

TEST(RanksOnGpus, SumGaussians) {
    NEEDS_GPU();
    constexpr std::size_t n = 20000;
    const auto points = numbers(2 * n, 1), q = numbers(n, 3);
    for (const auto method : {Method::direct, Method::fgt}) {
        const SumOptions options{.kernel = Kernel::gauss,
                                 .method = method,
                                 .sigma = 0.2,
                                 .tolerance = 1e-8,
                                 .device = {.kind = DeviceKind::cuda}};
        const auto on_rows = [&](const SumOptions& mine, std::size_t begin, std::size_t end) {
            Values out(end - begin);
            SumPlan plan(matrix_view(std::span(points).subspan(2 * begin, 2 * (end - begin)), 2), mine);
            plan.execute(std::span(q).subspan(begin, end - begin), {.potential = std::span(out)});
            EXPECT_EQ(plan.report().device.kind, DeviceKind::cuda);
            return out;
        };
        const auto one = on_rows(options, 0, n);
        Values joined(n);
        comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
            const auto rank = static_cast<std::size_t>(transport->rank());
            const auto begin = n * rank / 3, end = n * (rank + 1) / 3;
            auto mine = options;
            mine.communicator = CommunicatorAccess::of(std::move(transport));
            const auto own = on_rows(mine, begin, end);
            std::copy(own.begin(), own.end(), joined.begin() + static_cast<std::ptrdiff_t>(begin));
        });
        expect_near(joined, one, 1e-8);
    }
}

TEST(RanksOnGpus, HaveOneEach) {
    NEEDS_GPU();
    const auto points = numbers(300, 3);
    for (auto options : {by(Method::direct), by(Method::fmm)}) {
        options.device.gpus = {0, 1};
        comm::run_ranks(2, [&](std::shared_ptr<comm::Transport> transport) {
            auto mine = options;
            mine.communicator = CommunicatorAccess::of(std::move(transport));
            const auto view = matrix_view(std::span<const double>(points), 3);
            test::expect_contains(test::error_of<InvalidArgument>([&] { SumPlan(view, view, mine); }),
                                  {"one GPU"});
        });
    }
}

TEST(RanksOnGpus, RefuseWhatTheyDoNotDivide) {
    NEEDS_GPU();
    const auto points = numbers(300, 3);
    comm::run_ranks(2, [&](std::shared_ptr<comm::Transport> transport) {
        SumOptions options{.kernel = Kernel::gauss,
                           .method = Method::fgt,
                           .sigma = 0.2,
                           .self_term = SelfTerm::exclude,
                           .tolerance = 1e-8,
                           .device = {.kind = DeviceKind::cuda}};
        options.communicator = CommunicatorAccess::of(std::move(transport));
        const auto view = matrix_view(std::span<const double>(points), 3);
        test::expect_contains(test::error_of<InvalidArgument>([&] { SumPlan(view, options); }),
                              {"ranks", "device = cpu"});
    });
}

} // namespace
} // namespace farfield
