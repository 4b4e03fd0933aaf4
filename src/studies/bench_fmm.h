// Fast multipole sums, timed by pass against numbers of points and orders, with their errors, the
// rate of their arithmetic and the direct sum beside them.
#pragma once

#include "studies/study_progress.h"

#include <farfield/sum.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace farfield {

struct BenchFmmOptions {
    std::vector<std::int64_t> sizes{10000, 100000, 1000000}; ///< numbers of points, each ≥ 2
    std::vector<int> orders{4, 8, 13, 20};                   ///< each from 1 to 40, up to 20 but in double
    Precision precision = Precision::float64;                ///< `automatic`: the same
    int threads = 0;                                         ///< 0: as many as OpenMP would use
    std::optional<int> gpu{};                                ///< without one, the CPU
    int repeats = 3;                                         ///< ≥ 1
    StudyProgress progress{};
    std::function<bool()> stop_requested{}; ///< asked between sums and during them
};

/// One line of the table. Times are medians of the repeats.
struct BenchFmmRow {
    std::int64_t n = 0;
    int order = 0;                ///< 0: the direct sum
    double seconds = 0.0;         ///< tree, lists and sum: all that points which have moved need
    double set_up_seconds = 0.0;  ///< tree and lists, of `seconds`
    std::vector<PassTime> passes; ///< on a GPU those of near and far pairs run side by side
    double error_potential = 0.0; ///< relative L2 at sampled targets against exact sums
    double error_field = 0.0;
    double flops = 0.0; ///< floating-point operations a second of the passes; the direct sum's pairs likewise
    double share_of_peak = 0.0;
    std::int64_t leaves = 0;
    std::int64_t near_pairs = 0; ///< directed; of the direct sum all
};

struct BenchFmmReport {
    bool stopped = false;     ///< then rows are missing
    std::string gpu;          ///< its name; empty: the CPU
    Isa isa = Isa::automatic; ///< of the CPU
    Precision precision = Precision::float64;
    int threads = 0;
    int repeats = 0;
    double peak_flops =
        0.0; ///< fused multiply-adds on registers alone, measured with as many threads or on the GPU
    std::vector<BenchFmmRow> rows;
};

/// Potential and field of charges in [−1, 1], evenly spread over a cube, at the charges. The direct sum is
/// left out where it has more than 2·10^10 pairs. On a GPU all arrays are in its memory.
/// @throws InvalidArgument for options out of range, BackendUnavailable.
BenchFmmReport bench_fmm(const BenchFmmOptions& given);

/// A table for people, one line a row.
std::string to_text(const BenchFmmReport& report);

/// {"benchmark": "fmm", "points": "charges in a cube", "gpu", "isa", "precision", "threads", "repeats",
/// "peak_gflops", "rows": [{"method", "n", "order", "seconds", "set_up_seconds", "passes": {name: seconds},
/// "error_potential", "error_field", "gflops", "share_of_peak", "leaves", "near_pairs"}]}; order and leaves
/// are null for the direct sum, gpu on the CPU, isa and threads on a GPU.
std::string to_json(const BenchFmmReport& report);

/// The same into a file. @throws IoError.
void write_json(const BenchFmmReport& report, const std::filesystem::path& path);

/// Times against numbers of points, a curve an order, both axes logarithmic. @throws IoError.
void write_picture(const BenchFmmReport& report, const std::filesystem::path& path);

} // namespace farfield
