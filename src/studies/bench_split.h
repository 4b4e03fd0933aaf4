// One sum divided between the CPU and a GPU: is the CPU's share worth the trouble? The slides after Burtscher
// ("Hybrid Execution") say hardly.
#pragma once

#include "studies/study_progress.h"

#include <farfield/sum.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace farfield {

struct BenchSplitOptions {
    std::vector<std::int64_t> sizes{65536, 262144}; ///< numbers of points, each ≥ 1024
    int threads = 0;                                ///< of the CPU; 0: all but the one that waits for the GPU
    int repeats = 5;                                ///< ≥ 1
    int device = 0;                                 ///< CUDA's number
    StudyProgress progress{};
};

/// One division. The GPU sums its own bodies on each other by `symmetric` and adds what the CPU's bodies do
/// to them by `register-tile`; the CPU sums all bodies on its own.
struct BenchSplitRow {
    Precision precision = Precision::float32;
    std::int64_t n = 0;
    std::int64_t cpu_targets = 0; ///< 0: the GPU alone
    double seconds = 0.0;         ///< median by the clock, until both have their sums; nothing is exchanged
    double cpu_seconds = 0.0;     ///< median until the CPU has its sums
    double gpu_seconds = 0.0;
    double serial_seconds =
        0.0; ///< with points sent to the GPU and its sums brought back, one after the other
    double overlapped_seconds =
        0.0;            ///< with the GPU's two sums on a stream each: one moves data, the other computes
    double gain = 0.0;  ///< seconds of the GPU alone over these
    double error = 0.0; ///< relative L2 of the field put together
};

struct BenchSplitReport {
    std::string cpu;
    int threads = 0;
    std::string device;
    int repeats = 0;
    std::vector<BenchSplitRow> rows{};
};

/// Float and double; shares of the CPU around the ratio of both rates, measured alone.
/// @throws BackendUnavailable without CUDA or such a device; InvalidArgument for options out of range;
/// InternalError where transfers change bits.
BenchSplitReport bench_split(const BenchSplitOptions& options);

/// Targets for the CPU, a multiple of 32 below n, where the rates are those: `scale` 1 ends both at once.
std::int64_t split_targets(std::int64_t n, double cpu_rate, double gpu_rate, double scale);

std::string to_text(const BenchSplitReport& report);
std::string to_json(const BenchSplitReport& report);
void write_json(const BenchSplitReport& report, const std::filesystem::path& path);

} // namespace farfield
