// Sums whose ranks have a GPU each: the bits of one GPU. Ranks are threads here; GPUs are dealt out in
// turn, so that one GPU plays several.
#include "backend/comm/communicator_access.h"
#include "backend/comm/in_process.h"
#include "backend/cuda/device_scope.h"
#include "expect_error.h"
#include "gpu/needs_gpu.h"
#include "gpu/sums/gpu_arrays.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace farfield {
namespace {

using Values = std::vector<double>;

Values numbers(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    Values out(count);
    for (auto& value : out) value = normal(random);
    return out;
}

struct Outputs {
    Values potential, field;
    friend bool operator==(const Outputs&, const Outputs&) = default;
};

// Of rows [begin, end).
Outputs compute(const Values& points, const Values& strengths, std::size_t begin, std::size_t end,
                const SumOptions& options) {
    const auto rows = end - begin;
    Outputs out{Values(rows), Values(3 * rows)};
    SumPlan plan(matrix_view(std::span(points).subspan(3 * begin, 3 * rows), 3), options);
    plan.execute(std::span(strengths).subspan(begin, rows),
                 {.potential = std::span(out.potential), .field = matrix_view(std::span(out.field), 3)});
    EXPECT_EQ(plan.report().device.kind, DeviceKind::cuda);
    return out;
}

// Each rank has its share of the points. @param gpu_memory  messages may hold that of GPUs
Outputs joined_of_ranks(int ranks, const Values& points, const Values& strengths, const SumOptions& options,
                        bool gpu_memory = false) {
    const auto n = strengths.size(), count = static_cast<std::size_t>(ranks);
    Outputs joined{Values(n), Values(3 * n)};
    comm::run_ranks(
        ranks,
        [&](std::shared_ptr<comm::Transport> transport) {
            const auto rank = static_cast<std::size_t>(transport->rank());
            const auto begin = n * rank / count, end = n * (rank + 1) / count;
            auto mine = options;
            mine.communicator = CommunicatorAccess::of(std::move(transport));
            const auto own = compute(points, strengths, begin, end, mine);
            std::copy(own.potential.begin(), own.potential.end(), joined.potential.begin() + begin);
            std::copy(own.field.begin(), own.field.end(), joined.field.begin() + 3 * begin);
        },
        gpu_memory);
    return joined;
}

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

// Ranks that are threads read no memory by CUDA's handles: all goes by messages.
TEST(RanksOnGpus, SendMemoryOfGpus) {
    NEEDS_GPU();
    constexpr std::size_t n = 20000;
    const auto points = numbers(3 * n, 1), strengths = numbers(n, 2);
    for (const auto method : {Method::direct, Method::fmm, Method::treecode}) {
        SumOptions options{.kernel = Kernel::coulomb,
                           .method = method,
                           .precision = Precision::mixed,
                           .device = {.kind = DeviceKind::cuda},
                           .exchange = Exchange::host};
        if (method != Method::direct) options.tolerance = 1e-3;
        const auto one = compute(points, strengths, 0, n, options);
        options.mpi_gpu = MpiGpu::on;
        for (const int ranks : {2, 3, 8})
            EXPECT_EQ(joined_of_ranks(ranks, points, strengths, options, true), one)
                << name_of(method) << " on " << ranks << " ranks";
        EXPECT_THROW(joined_of_ranks(2, points, strengths, options), BackendUnavailable);
    }
}

/// What a rank of an uneven division has: of two or more the last has nothing.
struct Part {
    std::size_t begin, end;
    Part(const comm::Transport& ranks, std::size_t n) {
        const auto rank = static_cast<std::size_t>(ranks.rank());
        const auto parts = static_cast<std::size_t>(ranks.size()) - 1;
        begin = n * std::min(rank, parts) / parts;
        end = n * std::min(rank + 1, parts) / parts;
    }
    [[nodiscard]] std::size_t rows() const { return end - begin; }
    [[nodiscard]] Values of(const Values& all, std::size_t width) const {
        return {all.begin() + static_cast<std::ptrdiff_t>(width * begin),
                all.begin() + static_cast<std::ptrdiff_t>(width * end)};
    }
};

// Points by columns, results in every second row: all on the rank's GPU, which is asked for or follows from
// them, and on that of another rank.
TEST(RanksOnGpus, TakeArraysOfGpus) {
    NEEDS_GPU();
    constexpr std::size_t n = 3001;
    const auto points = numbers(3 * n, 1), strengths = numbers(n, 2);
    const int devices = static_cast<int>(gpus().size());
    for (const auto method : {Method::direct, Method::fmm, Method::treecode})
        for (const auto& [apart, named] : {std::pair(0, true), std::pair(0, false), std::pair(1, true)}) {
            SumOptions options{.kernel = Kernel::coulomb,
                               .method = method,
                               .precision = Precision::float64,
                               .device = {.kind = DeviceKind::cuda}};
            if (method != Method::direct) options.tolerance = 1e-3;
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
            EXPECT_EQ(joined, one) << name_of(method) << ", " << apart << ", " << named;
        }
}

// Multipoles and the far field travel by themselves where sums are large.
TEST(RanksOnGpus, ShareMultipolesOfManyPoints) {
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

TEST(RanksOnGpus, TakeTargetsOfTheirOwn) {
    NEEDS_GPU();
    constexpr std::size_t n = 6000, m = 1501;
    const auto points = numbers(3 * n, 1), targets = numbers(3 * m, 2), q = numbers(n, 3);
    for (const auto method : {Method::fmm, Method::treecode}) {
        const SumOptions options{.kernel = Kernel::coulomb,
                                 .method = method,
                                 .tolerance = 1e-4,
                                 .device = {.kind = DeviceKind::cuda}};
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
            EXPECT_EQ(got.potential, of_targets.of(one.potential, 1)) << name_of(method);
            EXPECT_EQ(got.field, of_targets.of(one.field, 3)) << name_of(method);
            ASSERT_EQ(got.report.errors.size(), one.report.errors.size());
            for (std::size_t k = 0; k < one.report.errors.size(); ++k)
                EXPECT_NEAR(got.report.errors[k].relative, one.report.errors[k].relative,
                            1e-6 * one.report.errors[k].relative);
        });
    }
}

// Points that meet lie on two ranks: one of them finds what is not finite.
TEST(RanksOnGpus, SkipOrRefuseCoincidentPoints) {
    NEEDS_GPU();
    constexpr std::size_t n = 4000;
    auto points = numbers(3 * n, 1);
    const auto strengths = numbers(n, 2);
    for (std::size_t k = 0; k < 3; ++k) points[3 * 3990 + k] = points[3 * 5 + k];
    for (const auto method : {Method::fmm, Method::treecode}) {
        SumOptions options{.kernel = Kernel::coulomb,
                           .method = method,
                           .order = 5,
                           .precision = Precision::float64,
                           .device = {.kind = DeviceKind::cuda}};
        options.coincident = Coincident::skip;
        const auto one = compute(points, strengths, 0, n, options);
        EXPECT_EQ(joined_of_ranks(3, points, strengths, options), one) << name_of(method);
        options.coincident = Coincident::error;
        EXPECT_THROW(joined_of_ranks(3, points, strengths, options), InvalidArgument);
    }
}

// One vector or several, dipoles, and the energy of all.
TEST(RanksOnGpus, GiveTheirOwnStrengths) {
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

TEST(RanksOnGpus, NameRowsThatAreNotFinite) {
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
TEST(RanksOnGpus, GoDoubleWhereFloatsLosePairs) {
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

void expect_near(const Values& found, const Values& expected, double tolerance) {
    ASSERT_EQ(found.size(), expected.size());
    double largest = 0.0;
    for (const double value : expected) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < found.size(); ++i)
        ASSERT_NEAR(found[i], expected[i], tolerance * largest) << i;
}

// A part of the targets on each GPU: how sources are divided may follow the number of targets.
TEST(RanksOnGpus, ShareSeparateTargets) {
    NEEDS_GPU();
    constexpr std::size_t n = 6000, m = 4001;
    const auto points = numbers(3 * n, 1), targets = numbers(3 * m, 2), q = numbers(n, 3);
    for (const auto method : {Method::direct, Method::pme}) {
        SumOptions options{.kernel = Kernel::coulomb, .method = method, .device = {.kind = DeviceKind::cuda}};
        options.precision = Precision::float64;
        if (method == Method::pme) {
            options.period = {4.0, 4.0, 4.0};
            options.background = Background::uniform;
        }
        const auto sum_on = [&](const SumOptions& mine, std::size_t first, std::size_t last) {
            return sum(matrix_view(std::span(points), 3),
                       matrix_view(std::span(targets).subspan(3 * first, 3 * (last - first)), 3),
                       {.charges = std::span(q)}, mine, Output::potential | Output::field);
        };
        const auto one = sum_on(options, 0, m);
        comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
            auto mine = options;
            mine.communicator =
                CommunicatorAccess::with_everything(CommunicatorAccess::of(std::move(transport)));
            const auto got = sum_on(mine, 0, m);
            EXPECT_EQ(got.report.device.kind, DeviceKind::cuda);
            expect_near(got.potential, one.potential, 1e-12);
            expect_near(got.field, one.field, 1e-12);
        });
    }
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

TEST(RanksOnGpus, RefuseWhatTheyDoNotDivide) {
    NEEDS_GPU();
    const auto points = numbers(300, 3);
    comm::run_ranks(2, [&](std::shared_ptr<comm::Transport> transport) {
        SumOptions options{.kernel = Kernel::coulomb, .method = Method::pme};
        options.period = {9.0, 9.0, 9.0};
        options.background = Background::uniform;
        options.device.kind = DeviceKind::cuda;
        options.communicator = CommunicatorAccess::of(std::move(transport));
        const auto view = matrix_view(std::span<const double>(points), 3);
        test::expect_contains(test::error_of<InvalidArgument>([&] { SumPlan(view, options); }),
                              {"ranks", "cpu"});
    });
}

} // namespace
} // namespace farfield
