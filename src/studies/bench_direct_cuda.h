// The ladder of the direct sum on a GPU, timed: every rung, with the error beside each rate, the bytes that
// its layout moves, its machine instructions, and the peaks that the CUDA slides hold a rate against.
#pragma once

#include "studies/cuda/ceilings.h"
#include "studies/ladder_model.h"
#include "studies/study_progress.h"
#include "sums/direct/cuda/rung_resources.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace farfield {

struct BenchCudaOptions {
    std::vector<std::int64_t> sizes{16384, 65536, 262144}; ///< numbers of points, each ≥ 2
    int repeats = 5;                                       ///< ≥ 1
    int device = 0;                                        ///< CUDA's number
    StudyProgress progress{};
};

/// One rung at one size. Speed-ups compare pairs/s: slow rungs are measured at fewer points.
struct BenchCudaRow {
    cuda::Rung rung{};
    Precision precision = Precision::float32;
    std::int64_t n = 0;
    double seconds = 0.0; ///< median, by events around the kernels
    double fastest_seconds = 0.0;
    double slowest_seconds = 0.0;
    double pairs_per_second = 0.0; ///< N(N−1)/seconds, directed pairs
    double bytes_per_second = 0.0; ///< bytes_moved/seconds
    double error = 0.0;            ///< relative L2 of the field; float against inputs rounded to float
    std::optional<LoopCount> loop{};
    std::optional<double> instructions_a_pair{}; ///< directed
    std::optional<cuda::RungResources> resources{};
    double over_one_thread = 0.0;
    std::optional<double> over_predecessor{};
    double over_cpu_thread = 0.0;
    double flops = 0.0; ///< at 20 a pair
    double share_of_peak = 0.0;
    double share_of_realistic = 0.0;
    std::optional<double> share_of_actual{};
};

struct BenchCudaReport {
    std::string device;
    int multiprocessors = 0;
    std::string cpu;
    int repeats = 0;
    double cpu_float_pairs = 0.0; ///< pairs/s of one CPU thread with the CPU's fastest rung
    double cpu_double_pairs = 0.0;
    std::int64_t cpu_n = 0; ///< at this many points
    Lanes lanes;
    cuda::MultiprocessorLimits limits;
    cuda::Ceilings ceilings;
    std::vector<BenchCudaRow> rows;
};

/// Points that `rung` is measured at where `n` are asked for: a slow rung would take minutes.
std::int64_t capped_size(cuda::Rung rung, std::int64_t n);

/// Fills in what follows from the times: rates, speed-ups, shares. Kept apart to be tested without a GPU.
void complete(BenchCudaReport& report, const LoopCounts& loops);

/// Field only, a Plummer sphere of equal masses, ε = 0.01, float, double and, where a rung has it, mixed.
/// @throws BackendUnavailable without CUDA or such a device; InvalidArgument for options out of range.
BenchCudaReport bench_direct_cuda(const BenchCudaOptions& options);

/// A table for people.
std::string to_text(const BenchCudaReport& report);

/// The fields of the report and its rows; what is not known is null. docs/performance.md says how each is
/// counted.
std::string to_json(const BenchCudaReport& report);
void write_json(const BenchCudaReport& report, const std::filesystem::path& path);

} // namespace farfield
