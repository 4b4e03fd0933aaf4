// The numbers that `farfield reproduce` sets ours beside, with where each stands. Nothing here is measured by
// Farfield. Two sources:
//   Handbook: "CUDA Handbook" notes of November 2012 on N-body, articles "N-Body: Multithreaded SSE" (a
//   table)
//             and "N-Body: FP Atomics v. Recomputation" (a list).
//   Slides:   "N-Body Simulation in CUDA", based on Martin Burtscher's tutorial; each number has its slide.
#pragma once

#include "sums/direct/cuda/rungs.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace farfield::seeds {

/// A row of the Handbook's table: milliseconds for one sum of N bodies. cg1: two Xeon 5570, 8 threads, Tesla
/// M2050; cc2: two Xeon 2670, 16 threads; gk104: GeForce GTX 680. The GPUs run the shared-memory kernel.
struct HandbookTiming {
    std::int64_t n;
    double cg1_sse, cc2_sse, cg1_threads, cc2_threads, cg1_gpu, gk104;
};
std::span<const HandbookTiming> handbook_timings();

/// The Handbook's three kernels on GK104 at N = 8192, milliseconds. (Its table has 1.60 ms for `shared` at
/// this N; the articles do not say why this one has 55.)
struct HandbookKernel {
    std::string_view name;
    double milliseconds;
    cuda::Rung ours; ///< the rung that does the same
};
constexpr std::int64_t handbook_kernels_n = 8192;
std::span<const HandbookKernel> handbook_kernels();

/// The slides' cards, in the order of their numbers.
constexpr std::array<std::string_view, 3> cards{"Quadro FX 5800", "Tesla C2050", "GeForce GTX 680"};
using OfCards = std::array<double, 3>;

/// Slides "1-Thread Performance" and "N Thread Speedup": n = 10000, 10000, 3000, one step.
constexpr std::array<std::int64_t, 3> first_slides_n{10000, 10000, 3000};
constexpr OfCards one_thread_slowdown{72.4, 36.7, 68.1}; ///< against a thread of the card's host
constexpr OfCards threads_over_one_thread{7781, 6495, 12150};
constexpr OfCards threads_over_cpu_thread{107.5, 176.7, 176.2};

/// Slide "Evaluation Methodology", and what the two slides above make of it per processing element: the gain
/// of N threads over one, over the elements of the card (7781/240 …), and how much faster a CPU core is than
/// an element. Of the last, 4.4 and 5.0 are twice 240/107.5 and 448/176.7; 8.7 is 1536/176.2 itself.
constexpr OfCards processing_elements{240, 448, 1536};
constexpr OfCards threads_over_one_an_element{32, 14.5, 7.9};
constexpr OfCards cpu_core_over_element{4.4, 5, 8.7};

/// Slide "C to CUDA Conversion": "over 99.9% of runtime".
constexpr double force_share = 0.999;

/// Slide "Hybrid Execution", GB/s: "1.6 to 6.5 GB/s versus 192 GB/s".
constexpr double slowest_link = 1.6, fastest_link = 6.5, card_memory = 192;

/// A slide that compares a rung with the one before: both at n bodies, `steps` steps.
struct SlideStep {
    cuda::Rung rung;
    std::string_view slide;
    std::array<std::int64_t, 3> n;
    int steps;
    OfCards speedup;
};
std::span<const SlideStep> slide_steps();

/// Slides "CC 2.0 Absolute Performance" and "Final Absolute Performance", one step.
struct SlideAbsolute {
    std::string_view slide;
    std::string_view card; ///< the last but one is called "CC 2.0 Fermi GTX 480" there
    cuda::Rung rung;
    std::int64_t n;
    double milliseconds;
    double gflops;
    double gigabytes_per_second;
    double share_of_peak;
    std::optional<double> gflops_double;
};
std::span<const SlideAbsolute> slide_absolutes();

} // namespace farfield::seeds
