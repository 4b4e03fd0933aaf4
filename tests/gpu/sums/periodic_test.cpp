// Sums over periodic boxes on a GPU: against Ewald's sums and against the CPU's sums of the same method,
// which are tested against an oracle of their own (tests/oracle/lattice); the same bits twice; what is
// refused.
#include "expect_error.h"
#include "gpu/needs_gpu.h"
#include "gpu/sums/fmm_clouds.h"
#include "gpu/sums/gpu_arrays.h"

#include "backend/cuda/memory.h"
#include "backend/cuda/stream.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace farfield {
namespace {

using test::list;
using test::relative_error;
using test::rows;
using test::Values;

struct Box {
    std::array<double, 3> period;
    std::array<double, 3> extent; ///< of points
};

const std::vector<Box>& boxes() {
    static const std::vector<Box> all{{{1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}},
                                      {{2.0, 3.4, 2.5}, {2.0, 3.4, 2.5}},
                                      {{1.0, 0.0, 1.4}, {1.0, 0.6, 1.4}},
                                      {{0.0, 0.0, 30.0}, {25.0, 40.0, 30.0}}};
    return all;
}

/// Points at random, some of them periods away from the box, and charges that cancel.
struct Charges {
    Values sources, targets, q;

    Charges(const Box& box, int n, int m = 0)
        : sources(test::cloud(test::Cloud::cube, n, 3)), targets(test::cloud(test::Cloud::cube, m, 4)),
          q(test::charges(n, 5)) {
        for (auto* points : {&sources, &targets})
            for (std::size_t i = 0; i < points->size(); ++i) {
                auto& x = (*points)[i];
                x = x * box.extent[i % 3] - 0.25;
                if (i % 7 == 0) x -= 3.0 * box.period[i % 3];
            }
        double total = 0.0;
        for (const double one : q) total += one;
        for (auto& one : q) one -= total / n;
    }
    [[nodiscard]] SumResult sum_with(const SumOptions& options) const {
        return test::computed(sources, targets, q, options);
    }
};

SumOptions options_of(const Box& box, Method method, DeviceKind device, double tolerance,
                      Precision precision = Precision::float64) {
    SumOptions options{.kernel = Kernel::coulomb,
                       .method = method,
                       .period = box.period,
                       .tolerance = tolerance,
                       .precision = precision};
    options.device.kind = device;
    return options;
}

/// The CPU's: Ewald's along three axes, else direct sums to the last digits.
SumResult exact(const Charges& charges, const Box& box, SumOptions options) {
    const bool is_box = box.period[0] > 0.0 && box.period[1] > 0.0 && box.period[2] > 0.0;
    options.method = is_box ? Method::ewald : Method::direct;
    options.device = {.kind = DeviceKind::cpu};
    options.precision = Precision::float64;
    options.order = 0;
    options.tolerance = 1e-11;
    return charges.sum_with(options);
}

// What plans compare at 256 targets is within the tolerance. Such samples may miss the few targets that are
// off most, those at corners of leaves: over all targets errors are within a few tolerances.
TEST(GpuPeriodic, KeepsTolerancesInBoxesOfOneToThreePeriods) {
    NEEDS_GPU();
    for (const auto& box : boxes())
        for (const bool apart : {false, true}) {
            const Charges charges(box, 1500, apart ? 700 : 0);
            const auto expected = exact(charges, box, options_of(box, Method::direct, DeviceKind::cpu, 0.0));
            for (const auto method : {Method::direct, Method::fmm})
                for (const double tolerance : {1e-4, 1e-7, 1e-10}) {
                    const auto got = charges.sum_with(
                        options_of(box, method, DeviceKind::cuda, tolerance, Precision::automatic));
                    const auto where = std::string(name_of(method)) + " " + std::to_string(box.period[0]) +
                                       " " + std::to_string(box.period[1]) + " " + std::to_string(tolerance);
                    EXPECT_EQ(got.report.device.kind, DeviceKind::cuda);
                    const double most = 4.0 * tolerance;
                    EXPECT_LT(relative_error(got.field, expected.field), most) << where;
                    EXPECT_LT(relative_error(got.potential, expected.potential), most) << where;
                    for (const auto& error : got.report.errors) EXPECT_LE(error.relative, tolerance) << where;
                    const bool is_cube = box.period[0] == box.period[1] && box.period[0] == box.period[2];
                    const bool by_tree = method == Method::fmm && is_cube; // of the whole box
                    EXPECT_EQ(got.report.lattice.rim_images > 0, !by_tree);
                    EXPECT_GE(got.report.lattice.cells, 1);
                    ASSERT_GE(got.report.passes.size(), 3U);
                    EXPECT_EQ(got.report.passes.back().name, by_tree ? "other terms" : "far images");
                    EXPECT_EQ(got.report.errors.size(), 2U);
                }
        }
}

// Without a tolerance `direct` aims at 1e-12 in double and at the rounding of floats otherwise.
TEST(GpuPeriodic, HasTheSumsOfTheCpu) {
    NEEDS_GPU();
    for (const auto& box : boxes()) {
        const Charges charges(box, 900, 300);
        const auto cpu = charges.sum_with(options_of(box, Method::direct, DeviceKind::cpu, 0.0));
        const auto gpu = charges.sum_with(options_of(box, Method::direct, DeviceKind::cuda, 0.0));
        EXPECT_LT(relative_error(gpu.field, cpu.field), 1e-11) << box.period[0];
        EXPECT_LT(relative_error(gpu.potential, cpu.potential), 1e-11) << box.period[0];
        const double rounding = test::float_rounding(charges.sources, charges.targets, 0.0);
        for (const auto precision : {Precision::mixed, Precision::float32}) {
            const auto rounded =
                charges.sum_with(options_of(box, Method::direct, DeviceKind::cuda, 0.0, precision));
            EXPECT_LT(relative_error(rounded.field, cpu.field),
                      precision == Precision::mixed ? 4e-6 : 8.0 * rounding)
                << name_of(precision);
        }
    }
}

TEST(GpuPeriodic, HasBoundariesBackgroundsAndGravity) {
    NEEDS_GPU();
    const auto& box = boxes()[1];
    for (const auto method : {Method::direct, Method::fmm})
        for (const auto& [kind, softening] :
             {std::pair{0, 0.0}, {1, 0.0}, {2, 0.0}, {0, 0.3}, {1, 1e-5}, {2, 1e-3}, {1, 0.3}}) {
            SCOPED_TRACE(testing::Message() << name_of(method) << ' ' << kind << ' ' << softening);
            const bool apart = kind == 2;
            Charges charges(box, 800, apart ? 300 : 0);
            const double tolerance = softening > 0.0 ? 1e-6 : 1e-8;
            auto options = options_of(box, method, DeviceKind::cuda, tolerance);
            options.softening = softening;
            if (kind == 0) options.boundary = Boundary::vacuum;
            if (kind > 0) {
                options.background = Background::uniform;
                options.kernel = Kernel::gravity;
                for (auto& q : charges.q) q = std::abs(q);
            }
            const auto expected = exact(charges, box, options);
            const auto got = charges.sum_with(options);
            EXPECT_LT(relative_error(got.field, expected.field), 2.0 * tolerance);
            EXPECT_LT(relative_error(got.potential, expected.potential), 2.0 * tolerance);
            EXPECT_NEAR(got.report.lattice.excess_strength, expected.report.lattice.excess_strength, 1e-10);
        }
}

double shortest_of(const Box& box) {
    double out = HUGE_VAL;
    for (const double length : box.period)
        if (length > 0.0) out = std::min(out, length);
    return out;
}

// Far images are softened as near ones are. Boxes that are open along an axis have the CPU's sums to a
// hundredth of the tolerance beside them, whose operators take seconds.
TEST(GpuPeriodic, SoftensImagesAtAnySoftening) {
    NEEDS_GPU();
    for (const auto& box : {boxes()[0], boxes()[2], boxes()[3]})
        for (const double share : {1e-3, 0.05, 0.7}) {
            const bool apart = share == 0.05;
            const Charges charges(box, 1200, apart ? 400 : 0);
            const bool is_box = box.period[1] > 0.0;
            for (const double tolerance : {1e-3, 1e-6}) {
                auto options = options_of(box, Method::direct, DeviceKind::cpu, tolerance);
                options.softening = share * shortest_of(box);
                if (is_box) {
                    options.method = Method::ewald;
                    options.tolerance = 1e-11;
                } else {
                    options.tolerance = 0.01 * tolerance;
                }
                const auto expected = charges.sum_with(options);
                options.device.kind = DeviceKind::cuda;
                options.tolerance = tolerance;
                for (const auto method : {Method::direct, Method::fmm}) {
                    SCOPED_TRACE(testing::Message() << name_of(method) << ' ' << box.period[0] << ' '
                                                    << box.period[1] << ' ' << share << ' ' << tolerance);
                    options.method = method;
                    options.precision = Precision::automatic;
                    const auto got = charges.sum_with(options);
                    EXPECT_EQ(got.report.device.kind, DeviceKind::cuda);
                    EXPECT_LT(relative_error(got.field, expected.field), 2.0 * tolerance);
                    EXPECT_LT(relative_error(got.potential, expected.potential), 2.0 * tolerance);
                    ASSERT_EQ(got.report.errors.size(), 2U);
                    for (const auto& error : got.report.errors) EXPECT_LE(error.relative, tolerance);
                    EXPECT_EQ(got.report.passes.back().name, "far images");
                    EXPECT_GT(got.report.lattice.order, 0);
                }
            }
        }
}

// A plan whose points move away and come back gives the bits of sums made for them.
void expect_bits_of_fresh_sums(const Charges& charges, const SumOptions& options) {
    auto moved = charges;
    for (auto& x : moved.sources) x += 0.3 * std::sin(20.0 * x);
    SumPlan plan(rows(charges.sources), options);
    Values phi(charges.q.size()), e(charges.sources.size());
    for (const Charges* at : {&charges, static_cast<const Charges*>(&moved), &charges}) {
        plan.update(rows(at->sources));
        plan.execute(list(at->q),
                     {.potential = std::span<double>(phi), .field = matrix_view(std::span<double>(e), 3)});
        const auto fresh = at->sum_with(options);
        EXPECT_EQ(phi, fresh.potential);
        EXPECT_EQ(e, fresh.field);
    }
}

// What softened images have of their own: the same bits from run to run, for one output as for both, and for
// points that come and go; and sums of few points.
TEST(GpuPeriodic, SoftenedImagesHaveTheSameBits) {
    NEEDS_GPU();
    for (const auto& box : {boxes()[1], boxes()[2]})
        for (const auto method : {Method::direct, Method::fmm}) {
            const Charges charges(box, 5000, 2000), fewer(box, 5000);
            auto options = options_of(box, method, DeviceKind::cuda, 0.0); // a tolerance would refine plans
            options.softening = 0.2 * shortest_of(box);
            const auto once = charges.sum_with(options);
            options.threads = 2;
            const auto again = charges.sum_with(options);
            EXPECT_EQ(once.potential, again.potential);
            EXPECT_EQ(once.field, again.field);
            const auto field =
                sum(rows(charges.sources), rows(charges.targets), list(charges.q), options, Output::field);
            EXPECT_LT(relative_error(field.field, once.field), 1e-14);
            expect_bits_of_fresh_sums(fewer, options);
        }
}

// Polynomials are made anew if a sum has to be sharper. Without a tolerance `direct` aims at 1e-12 along
// axes that few operators serve.
TEST(GpuPeriodic, SoftenedImagesOfFewPoints) {
    NEEDS_GPU();
    const Box wire{{0.0, 1.3, 0.0}, {0.4, 1.3, 0.5}};
    for (const int n : {1, 2, 5})
        for (const auto method : {Method::direct, Method::fmm}) {
            Charges charges(wire, n, 3);
            if (n == 1) charges.q[0] = 0.0;
            auto options = options_of(wire, Method::direct, DeviceKind::cpu, 0.0);
            options.softening = 0.4;
            const auto expected = charges.sum_with(options);
            options.device.kind = DeviceKind::cuda;
            options.method = method;
            const auto got = charges.sum_with(options);
            const double most = method == Method::direct ? 1e-10 : 1e-5; // fmm aims at 1e-6
            for (std::size_t i = 0; i < got.field.size(); ++i)
                EXPECT_NEAR(got.field[i], expected.field[i], most) << n;
            for (std::size_t i = 0; i < got.potential.size(); ++i)
                EXPECT_NEAR(got.potential[i], expected.potential[i], most) << n;
        }
}

TEST(GpuPeriodic, GivesTheSameBitsEveryTime) {
    NEEDS_GPU();
    for (const auto& box : boxes())
        for (const auto method : {Method::direct, Method::fmm})
            for (const auto precision : {Precision::mixed, Precision::float64}) {
                const Charges charges(box, 20000);
                auto options = options_of(box, method, DeviceKind::cuda, 0.0, precision);
                const auto once = charges.sum_with(options);
                options.threads = 2;
                const auto again = charges.sum_with(options);
                EXPECT_EQ(once.potential, again.potential);
                EXPECT_EQ(once.field, again.field);
            }
}

// Read and written in place, with a stream of the caller's and with none.
TEST(GpuPeriodic, TakesArraysOfTheGpu) {
    NEEDS_GPU();
    const auto& box = boxes()[2];
    const int n = 3000, m = 1000;
    const Charges charges(box, n, m);
    const Device here{DeviceType::cuda, 0};
    for (const auto method : {Method::direct, Method::fmm}) {
        const auto expected = charges.sum_with(options_of(box, method, DeviceKind::cuda, 0.0));
        const auto x = test::to_gpu(charges.sources), y = test::to_gpu(charges.targets),
                   q = test::to_gpu(charges.q);
        auto phi = test::to_gpu(Values(m)), e = test::to_gpu(Values(std::size_t{3} * m));
        const cuda::Stream stream;
        for (const bool with_stream : {false, true}) {
            auto options = options_of(box, method, DeviceKind::automatic, 0.0);
            if (with_stream) options.stream = stream.get();
            SumPlan plan({x.data(), DType::float64, {n, 3}, here}, {y.data(), DType::float64, {m, 3}, here},
                         options);
            plan.execute({q.data(), DType::float64, {n}, here},
                         {.potential = {phi.data(), DType::float64, {m}, here},
                          .field = {e.data(), DType::float64, {m, 3}, here}});
            Values got_phi(m), got_e(3 * m);
            cuda::copy(got_phi.data(), static_cast<const double*>(phi.data()), m, stream.get());
            cuda::copy(got_e.data(), static_cast<const double*>(e.data()), 3 * m, stream.get());
            stream.synchronize();
            EXPECT_EQ(got_phi, expected.potential);
            EXPECT_EQ(got_e, expected.field);
        }
    }
}

// A plan whose points move has another number of near images each time.
TEST(GpuPeriodic, PlansTakeNewPoints) {
    NEEDS_GPU();
    for (const auto& box : boxes())
        for (const auto method : {Method::direct, Method::fmm}) {
            const auto options = options_of(box, method, DeviceKind::cuda, 0.0);
            expect_bits_of_fresh_sums(Charges(box, 3000), options);
        }
}

TEST(GpuPeriodic, OneOutputHasTheBitsOfBoth) {
    NEEDS_GPU();
    const auto& box = boxes()[2];
    const Charges charges(box, 2000, 500);
    const auto options = options_of(box, Method::direct, DeviceKind::cuda, 0.0);
    const auto both = charges.sum_with(options);
    for (const auto output : {Output::potential, Output::field}) {
        const auto one = sum(rows(charges.sources), rows(charges.targets), list(charges.q), options, output);
        if (output == Output::potential)
            EXPECT_LT(relative_error(one.potential, both.potential), 1e-14);
        else
            EXPECT_LT(relative_error(one.field, both.field), 1e-14);
    }
}

TEST(GpuPeriodic, RefusesWhatItCannotDo) {
    NEEDS_GPU();
    const auto& box = boxes()[0];
    Charges charges(box, 100);
    const auto refused = [&](const SumOptions& options, std::initializer_list<std::string> words) {
        test::expect_contains(test::error_of<InvalidArgument>([&] { (void)charges.sum_with(options); }),
                              words);
    };
    const auto good = options_of(box, Method::fmm, DeviceKind::cuda, 1e-5);
    auto bad = good;
    bad.softening = 20.0; // images cancel but for e^(−2πε/L)
    refused(bad, {"softening", "20", "ewald"});
    bad = good;
    bad.device.gpus = {0, 1};
    refused(bad, {"one GPU", "cuda:0"});
    bad = good;
    bad.guaranteed = true;
    refused(bad, {"guaranteed"});
    charges.q[3] += 1.0;
    refused(good, {"sum to", "background"});
    charges.q[3] = HUGE_VAL;
    refused(good, {"strengths", "inf"});
    charges = Charges(box, 100);
    charges.sources[4] = std::nan("");
    refused(good, {"sources", "nan"});
    charges = Charges(box, 100);
    for (std::size_t k = 0; k < 3; ++k) charges.sources[3 + k] = charges.sources[k] + 1.0;
    refused(good, {"0", "1"}); // images of each other
    auto skips = good;
    skips.coincident = Coincident::skip;
    skips.tolerance = 0.0;
    EXPECT_EQ(charges.sum_with(skips).report.direct.coincident_pairs_skipped, 2);
}

TEST(GpuPeriodic, AutomaticTakesWhatRunsThere) {
    NEEDS_GPU();
    for (const auto& box : boxes()) {
        const Charges charges(box, 4000);
        const auto expected = exact(charges, box, options_of(box, Method::direct, DeviceKind::cpu, 0.0));
        const auto got = charges.sum_with(options_of(box, Method::automatic, DeviceKind::cuda, 1e-5));
        EXPECT_EQ(got.report.device.kind, DeviceKind::cuda);
        EXPECT_LT(relative_error(got.field, expected.field), 2e-5);
    }
}

TEST(GpuPeriodic, SumsFewPoints) {
    NEEDS_GPU();
    const auto& box = boxes()[1];
    for (const auto method : {Method::direct, Method::fmm})
        for (const int n : {1, 2, 5}) {
            Charges charges(box, n, 3);
            auto options = options_of(box, method, DeviceKind::cuda, 0.0);
            options.background = Background::uniform;
            charges.q[0] = 2.0;
            const auto expected = exact(charges, box, options);
            const auto got = charges.sum_with(options);
            EXPECT_LT(relative_error(got.field, expected.field), 1e-5) << n; // fmm aims at 1e-6
            EXPECT_LT(relative_error(got.potential, expected.potential), 1e-5) << n;
        }
}

} // namespace
} // namespace farfield
