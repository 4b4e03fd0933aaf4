// The counting of the ladder against the slides' own figures for a Tesla C2050 and a GeForce GTX 680, and
// against counts made by hand.
#include "studies/ladder_model.h"

#include "sums/direct/cuda/rung_resources.h"
#include "sums/direct/cuda/self_pair.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace farfield {
namespace {

using cuda::Rung;

// "CC 2.0: Tesla C2050 … 14 SMs, 448 PEs, 1.15 GHz"
constexpr Lanes c2050{.total = 448, .double_cost = 2, .clock_hz = 1.15e9};

TEST(LadderModel, PeaksAreThoseOfTheSlides) {
    const auto found = peaks(c2050, Precision::float32, 31.0);
    EXPECT_NEAR(1e-9 * found.peak, 1030.0, 0.5);
    EXPECT_NEAR(1e-9 * found.realistic, 515.2, 0.05);
    ASSERT_TRUE(found.actual.has_value());
    // the slide has 330.45; 448·1.15·20/31 is 332.4, so it was rounded on the way
    EXPECT_NEAR(1e-9 * *found.actual, 330.45, 0.007 * 330.45);
    // shares of 326.7 Gflop/s: "32 %", "63 %", "99 %" (98.3 % with our denominator)
    EXPECT_NEAR(326.7e9 / found.peak, 0.32, 0.005);
    EXPECT_NEAR(326.7e9 / found.realistic, 0.63, 0.005);
    EXPECT_NEAR(326.7e9 / *found.actual, 0.99, 0.01);
    EXPECT_FALSE(peaks(c2050, Precision::float32, std::nullopt).actual.has_value());
}

TEST(LadderModel, TilesMoveTheBytesOfTheSlides) {
    // 1.035, 2.139 and 5.266 GB/s; theirs include moving the bodies, 72 bytes each, ours the sums, 28
    EXPECT_NEAR(1e-9 * bytes_moved(Rung::unrolled, Precision::float32, 100000) / 0.612, 1.035, 0.01);
    EXPECT_NEAR(1e-9 * bytes_moved(Rung::flush, Precision::float32, 100000) / 0.2961, 2.139, 0.02);
    EXPECT_NEAR(1e-9 * bytes_moved(Rung::flush, Precision::float32, 300000) / 1.073, 5.266, 0.02);
}

TEST(LadderModel, BytesOfTheOtherRungs) {
    const auto bytes = [](Rung rung, Precision precision) { return bytes_moved(rung, precision, 1024); };
    constexpr double own = 1024 * 7 * 4; // three coordinates read, a row of four written
    EXPECT_DOUBLE_EQ(bytes(Rung::one_thread, Precision::float32), 1024.0 * 1024 * 16 + own);
    EXPECT_DOUBLE_EQ(bytes(Rung::naive, Precision::float32), 32.0 * 1024 * 16 + own); // 32 warps
    EXPECT_DOUBLE_EQ(bytes(Rung::naive, Precision::float64), 2.0 * (32.0 * 1024 * 16 + own));
    EXPECT_DOUBLE_EQ(bytes(Rung::shared, Precision::float32), 4.0 * 1024 * 16 + own); // 4 blocks
    // 10 tiles of 256 below and on the diagonal: 256 sources read, 256 × 3 atomics
    EXPECT_DOUBLE_EQ(bytes(Rung::atomics_tiled, Precision::float32), 10.0 * 256 * (16 + 24) + own);
    // a pair: three atomics, and a source read once for 32 of them
    EXPECT_DOUBLE_EQ(bytes(Rung::atomics, Precision::float32), 0.5 * 1024 * 1024 * (24 + 0.5) + own);
    // the Handbook's move as many bytes as those they stand for
    EXPECT_EQ(bytes(Rung::float4, Precision::float32), bytes(Rung::naive, Precision::float32));
    for (const auto rung : {Rung::atomics_pointer, Rung::atomics_index})
        EXPECT_EQ(bytes(rung, Precision::float32), bytes(Rung::atomics, Precision::float32));
    // tiles of 64: 136 meetings of two; 256 partial sums of 64 rows, written and read
    EXPECT_DOUBLE_EQ(bytes(Rung::symmetric, Precision::float32),
                     2.0 * 136 * 64 * 16 + (2.0 * 256 * 64 + 1024) * 16);
    // 2 blocks of targets; 4 chunks of 256 sources
    EXPECT_DOUBLE_EQ(bytes(Rung::register_tile, Precision::float32),
                     2.0 * 1024 * 16 + 4.0 * 1024 * 16 + 2.0 * 4 * 1024 * 16 + 1024 * 16);
    // 2 tiles of 512, 3 meetings of two: 48 bytes a body; 4 partial sums of 512 rows, written and read
    EXPECT_DOUBLE_EQ(bytes(Rung::tensor, Precision::float32),
                     2.0 * 3 * 512 * 48 + (2.0 * 4 * 512 + 1024) * 16);
    EXPECT_GT(bytes(Rung::register_tile, Precision::mixed), bytes(Rung::register_tile, Precision::float32));
}

TEST(LadderModel, EachRungBranchesFromTheRungItChanges) {
    EXPECT_FALSE(predecessor(Rung::one_thread).has_value());
    EXPECT_EQ(predecessor(Rung::naive), Rung::one_thread);
    EXPECT_EQ(predecessor(Rung::flush), Rung::unrolled_128);
    EXPECT_EQ(predecessor(Rung::fast_math), Rung::flush);
    EXPECT_EQ(predecessor(Rung::float4), Rung::naive);
    EXPECT_EQ(predecessor(Rung::atomics_pointer), Rung::float4);
    EXPECT_EQ(predecessor(Rung::atomics_index), Rung::atomics_pointer);
    for (const auto side : {Rung::two_loops, Rung::atomics, Rung::atomics_tiled})
        EXPECT_EQ(predecessor(side), Rung::rsqrt);
    EXPECT_EQ(predecessor(Rung::shared), Rung::rsqrt);
    EXPECT_EQ(predecessor(Rung::register_tile), Rung::flush);
    EXPECT_EQ(predecessor(Rung::symmetric), Rung::register_tile);
    EXPECT_EQ(predecessor(Rung::tensor), Rung::symmetric);
}

// Names as nvcc 13.0 gives them; the kernels of the potential (Li1E) and of both (Li3E) stand beside those of
// the field (Li2E).
TEST(LadderModel, FindsEachRungsLoopByItsKernelsName) {
    const LoopCount loop{.instructions = 14, .roots = 1, .special = 1, .doubles = 0}, other{9, 1, 1, 0};
    const std::string tiled = "_ZN8farfield4cuda12tiled_kernelIfLi";
    LoopCounts loops;
    for (const auto* outputs : {"1", "3"}) {
        loops[tiled + outputs + "ENS0_8TileRungILi8ELb1ELb0ELi0EEELb1EEEvv"] = {other};
        loops[std::string("_ZN8farfield4cuda14atomics_kernelIfLi") + outputs + "EEEvv"] = {other};
    }
    loops[tiled + "2ENS0_8TileRungILi8ELb1ELb0ELi0EEELb1EEEvv"] = {loop};
    loops[tiled + "2ENS0_8TileRungILi128ELb0ELb1ELi1EEELb1EEEvv"] = {{1700, 100, 100, 0}};
    loops[tiled + "2ENS0_8TileRungILi128ELb0ELb1ELi1EEELb0EEEvv"] = {{1800, 128, 128, 0}};
    loops[tiled + "2ENS0_8TileRungILi128ELb0ELb1ELi2EEELb0EEEvv"] = {{1801, 128, 128, 0}};
    loops["_ZN8farfield4cuda20atomics_tiled_kernelIfLi2EEEvv"] = {{20, 2, 2, 0}};
    loops["_ZN8farfield4cuda14atomics_kernelIfLi2EEEvv"] = {{31, 1, 1, 0}};
    loops["_ZN8farfield4cuda10far_kernelINS0_8FarShapeILi8ELi4EEEEEvNS0_7FarTaskE"] = {{280, 32, 32, 0}};
    loops["_ZN8farfield4cuda13float4_kernelILb1EEEvPKNS0_5PointIfEEPNS0_4Vec4IfEEif"] = {{80, 4, 4, 0}};
    loops["_ZN8farfield4cuda13float4_kernelILb0EEEvPKNS0_5PointIfEEPNS0_4Vec4IfEEif"] = {{60, 4, 4, 0}};
    loops["_ZN8farfield4cuda23handbook_atomics_kernelILb0EEEvPKNS0_5PointIfEEPfif"] = {{100, 4, 4, 0}};
    loops["_ZN8farfield4cuda23handbook_atomics_kernelILb1EEEvPKNS0_5PointIfEEPfif"] = {{104, 4, 4, 0}};
    EXPECT_EQ(pair_loop(loops, Rung::unrolled, Precision::float32), loop);
    EXPECT_EQ(pair_loop(loops, Rung::flush, Precision::float32), (LoopCount{1800, 128, 128, 0}));
    EXPECT_EQ(pair_loop(loops, Rung::fast_math, Precision::float32), (LoopCount{1801, 128, 128, 0}));
    EXPECT_EQ(pair_loop(loops, Rung::atomics, Precision::float32), (LoopCount{31, 1, 1, 0}));
    EXPECT_EQ(pair_loop(loops, Rung::atomics_tiled, Precision::float32), (LoopCount{20, 2, 2, 0}));
    EXPECT_EQ(pair_loop(loops, Rung::tensor, Precision::float32), (LoopCount{280, 32, 32, 0}));
    EXPECT_EQ(pair_loop(loops, Rung::float4, Precision::float32), (LoopCount{60, 4, 4, 0}));
    EXPECT_EQ(pair_loop(loops, Rung::atomics_pointer, Precision::float32), (LoopCount{100, 4, 4, 0}));
    EXPECT_EQ(pair_loop(loops, Rung::atomics_index, Precision::float32), (LoopCount{104, 4, 4, 0}));
    EXPECT_FALSE(pair_loop(loops, Rung::float4, Precision::float64).has_value());
    EXPECT_FALSE(pair_loop(loops, Rung::tensor, Precision::float64).has_value());
    EXPECT_FALSE(pair_loop(loops, Rung::unrolled, Precision::float64).has_value());
    EXPECT_FALSE(pair_loop(loops, Rung::softened, Precision::float32).has_value());
}

TEST(LadderModel, OfSeveralSymmetricShapesTheLargestTileCounts) {
    const auto name = [](const std::string& shape) {
        return "_ZN8farfield4cuda16symmetric_kernelINS0_5PointIdEELi2ENS0_14SymmetricShapeI" + shape +
               "EEEEvNS0_13SymmetricTaskIT_EE";
    };
    LoopCounts loops;
    loops[name("Li2ELi1ELi2ELb1E")] = {{110, 4, 4, 80}};
    // R·unroll = 4: the loop of 7 is the diagonal's
    loops[name("Li4ELi4ELi1ELb1E")] = {{145, 7, 7, 116}, {95, 4, 4, 80}};
    EXPECT_EQ(pair_loop(loops, Rung::symmetric, Precision::float64), (LoopCount{95, 4, 4, 80}));
    EXPECT_FALSE(pair_loop(loops, Rung::symmetric, Precision::mixed).has_value());
}

// The resident threads that the slides give of their cards, for the slides' blocks of 256 threads.
TEST(RungResources, FillTheSlidesCards) {
    const auto resident = [](const cuda::MultiprocessorLimits& limits, int multiprocessors) {
        const cuda::RungResources kernel{.registers = 16, .shared_bytes = 4096, .threads = 256};
        return 256 * cuda::blocks_that_fit(kernel, limits).all() * multiprocessors;
    };
    EXPECT_EQ(resident({1024, 8, 16384, 16384, 0}, 30), 30720); // Quadro FX 5800
    EXPECT_EQ(resident({1536, 8, 32768, 49152, 0}, 14), 21504); // Tesla C2050
    EXPECT_EQ(resident({2048, 16, 65536, 49152, 0}, 8), 16384); // GeForce GTX 680
}

// By hand, for an H200: 65536 registers, 228 KiB, 2048 threads, 32 blocks.
TEST(RungResources, SayWhatBoundsTheBlocks) {
    const cuda::MultiprocessorLimits h200{2048, 32, 65536, 233472, 1024};
    const auto check = [&](cuda::RungResources kernel, int blocks, std::string_view limit, double share) {
        const auto fit = cuda::blocks_that_fit(kernel, h200);
        EXPECT_EQ(fit.all(), blocks) << limit;
        EXPECT_EQ(fit.limit(), limit);
        kernel.blocks = fit.all();
        EXPECT_DOUBLE_EQ(cuda::occupancy(kernel, h200), share);
    };
    check({.registers = 32, .shared_bytes = 4096, .threads = 256}, 8, "threads", 1.0);
    // 40 · 32 = 1280 of a warp: 12 warps of each of four schedulers' 16384, 6 blocks of 8
    check({.registers = 40, .shared_bytes = 4096, .threads = 256}, 6, "registers", 0.75);
    // 33 · 32 = 1056 takes 1280
    check({.registers = 33, .shared_bytes = 0, .threads = 256}, 6, "registers", 0.75);
    check({.registers = 20, .shared_bytes = 0, .threads = 1}, 32, "blocks", 0.5);
    // 100,000 + 1,024 takes 101,120 of 233,472: two blocks of 128 threads
    check({.registers = 32, .shared_bytes = 100000, .threads = 128}, 2, "shared memory", 0.125);
}

// 0·m/ε³ is 0 as long as m/ε³ is a number.
TEST(SelfPair, IsLeftInWhereItsTermIsZero) {
    using cuda::self_pair_is_zero;
    EXPECT_TRUE(self_pair_is_zero(1e-4F, field_only));
    EXPECT_TRUE(self_pair_is_zero(1e-4, field_only));
    EXPECT_FALSE(self_pair_is_zero(0.0F, field_only));
    EXPECT_FALSE(self_pair_is_zero(1e-4F, potential_only)); // −m/ε is not 0
    EXPECT_FALSE(self_pair_is_zero(1e-4F, field_and_potential));
    EXPECT_FALSE(self_pair_is_zero(1e-26F, field_only)); // ε⁻³ = 1e39: no float
    EXPECT_TRUE(self_pair_is_zero(1e-26, field_only));
    EXPECT_FALSE(self_pair_is_zero(1e-206, field_only));
    const float least = 0x1p-60F, inverse = 1.0F / std::sqrt(least);
    EXPECT_TRUE(self_pair_is_zero(least, field_only));
    EXPECT_TRUE(std::isfinite(0x1p37F * (inverse * inverse * inverse)));
}

TEST(LadderModel, CyclesCountSpecialFunctionsAsEightAndDoublesAsGiven) {
    // the slides: 12 operations, a root of 8 and 11 integer operations are 31 cycles
    EXPECT_DOUBLE_EQ(cycles_a_pair({.instructions = 24, .roots = 1, .special = 1, .doubles = 0}, 1, 2.0),
                     31.0);
    EXPECT_DOUBLE_EQ(cycles_a_pair({.instructions = 40, .roots = 2, .special = 2, .doubles = 20}, 2, 2.0),
                     (40 + 14 + 20) / 4.0);
}

TEST(LadderModel, AnH200Has132Times128Lanes) {
    const auto h200 = lanes_of(9, 0, 132, 1.98e9);
    EXPECT_DOUBLE_EQ(h200.total, 16896);
    EXPECT_DOUBLE_EQ(h200.double_cost, 2);
    EXPECT_NEAR(peaks(h200, Precision::float32, {}).peak, 66.9e12, 0.05e12); // the vendor's table: 67
    EXPECT_NEAR(peaks(h200, Precision::float64, {}).peak, 33.5e12, 0.05e12); // and 34
    EXPECT_DOUBLE_EQ(lanes_of(7, 0, 80, 1e9).total, 5120);
}

} // namespace
} // namespace farfield
