#include "studies/seed_tables.h"

namespace farfield::seeds {
namespace {

using cuda::Rung;

constexpr std::array timings{
    HandbookTiming{4096, 36.24, 40.31, 4.78, 2.79, 1.35, 0.66},
    HandbookTiming{8192, 144.50, 161.32, 20.13, 9.45, 3.83, 1.60},
    HandbookTiming{16384, 576.75, 649.83, 72.78, 39.46, 12.66, 6.05},
};

constexpr std::array kernels{
    HandbookKernel{"Atomics", 90, Rung::atomics_pointer},
    HandbookKernel{"Naive", 62, Rung::float4},
    HandbookKernel{"Shared", 55, Rung::shared},
};

constexpr std::array<std::int64_t, 3> large{100000, 100000, 300000};

constexpr std::array steps{
    SlideStep{Rung::soa, "Scalar Array Speedup", large, 1, {0.83, 0.96, 0.82}},
    SlideStep{
        Rung::constant, "Constant Mem. Parameter Speedup", {1000, 1000, 3000}, 10000, {1.015, 1.016, 0.971}},
    SlideStep{Rung::rsqrt, "RSQRT Speedup", large, 1, {0.99, 1.83, 1.64}},
    SlideStep{Rung::two_loops, "Loop Duplication Speedup", large, 1, {0.55, 1.00, 1.00}},
    SlideStep{Rung::shared, "Blocking Speedup", large, 1, {3.7, 1.1, 1.6}},
    SlideStep{Rung::unrolled, "Loop Unrolling Speedup", large, 1, {1.07, 1.16, 1.07}},
    SlideStep{Rung::softened, "If Elimination Speedup", large, 1, {1.38, 1.54, 1.64}},
    SlideStep{Rung::fma, "FMA Speedup", large, 1, {1.03, 1.05, 1.06}},
    SlideStep{Rung::unrolled_128, "Higher Unroll Factor", large, 1, {1.01, 1.04, 0.93}},
    SlideStep{Rung::flush, "Compiler Flags", large, 1, {1.00, 1.18, 1.15}},
};

constexpr std::array absolutes{
    SlideAbsolute{
        "CC 2.0 Absolute Performance", "Tesla C2050", Rung::unrolled, 100000, 612, 326.7, 1.035, 0.32, {}},
    SlideAbsolute{"Final Absolute Performance", "Fermi GTX 480", Rung::flush, 100000, 296.1, 675.6, 2.139,
                  0.66, 261.1},
    SlideAbsolute{"Final Absolute Performance", "GeForce GTX 680", Rung::flush, 300000, 1073, 1677.6, 5.266,
                  0.54, 88.7},
};

} // namespace

std::span<const HandbookTiming> handbook_timings() { return timings; }
std::span<const HandbookKernel> handbook_kernels() { return kernels; }
std::span<const SlideStep> slide_steps() { return steps; }
std::span<const SlideAbsolute> slide_absolutes() { return absolutes; }

} // namespace farfield::seeds
