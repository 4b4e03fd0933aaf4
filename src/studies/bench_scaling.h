// How sums and stencil programs speed up on more ranks of a job, beside a model of work and messages.
#pragma once

#include "studies/study_progress.h"

#include <farfield/communicator.h>
#include <farfield/device.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace farfield {

enum class ScalingWork : std::uint8_t { direct, treecode, fmm, grid };

/// "direct", "treecode", "fmm", "grid"
std::string_view name_of(ScalingWork work);
std::vector<std::string_view> scaling_work_names();
/// Words such as "direct,grid". @throws InvalidArgument for one that is not known.
std::vector<ScalingWork> scaling_work_from_names(std::string_view names);

struct BenchScalingOptions {
    /// None: all that the device has on ranks.
    std::vector<ScalingWork> work{};
    int points = 0;   ///< of sums; 0: 400,000, of direct sums 60,000, on GPUs 1,048,576
    int cells = 0;    ///< along a side of the grid, even, at least 64; 0: 2048
    bool weak = true; ///< also with as much work a rank
    /// Bodies of trees are dealt out at random; otherwise ranks have those of regions, as runs that divide
    /// space do.
    bool scattered = false;
    int repeats = 3; ///< ≥ 1
    /// `cpu`, or `cuda`: a GPU a rank.
    DeviceKind device = DeviceKind::cpu;
    Communicator communicator{};
    StudyProgress progress{};
    std::function<bool()> stop_requested{}; ///< asked between measurements and during sums
};

/// One line of the table.
struct ScalingRow {
    ScalingWork work = ScalingWork::direct;
    bool weak = false; ///< as much work a rank; else the same in all
    int ranks = 1;
    std::int64_t size = 0;  ///< points, or cells along a side
    std::int64_t steps = 0; ///< of a grid
    double seconds = 0.0;   ///< of a sum with its tree, or of the steps; the median
    double speed_up = 1.0;  ///< work a second over that of one rank
    double efficiency = 1.0;
    double predicted_seconds = 0.0;
    std::int64_t messages = 0, bytes = 0; ///< of the rank that sent most, in a repeat
    double error = 0.0;                   ///< of a sum: relative L2 of the field at samples
    bool same_bits = true;                ///< of a grid of the same size: as on one rank
    std::string description{};            ///< what computed a grid
};

struct BenchScalingReport {
    bool stopped = false; ///< then rows are missing
    int ranks = 1;        ///< of the job
    int threads = 0;      ///< of a rank
    std::string gpu;      ///< of rank 0; empty: CPUs
    int repeats = 0;
    bool scattered = false;
    double latency = 0.0;   ///< seconds of a message of 8 bytes between ranks 0 and 1; 0 on one rank
    double bandwidth = 0.0; ///< bytes a second in messages of 16 MiB
    std::vector<ScalingRow> rows;
};

/// Measures on 1, 2, 4, … and all ranks; the others wait meanwhile. All ranks call it and get the report.
///
/// Sums: the field of a Plummer sphere, its bodies evenly divided among the ranks
/// along a Morton curve, where they are not scattered; the tree code of order 3,
/// the fast multipole method of order 10. Grid: the bench program of `farfield bench stencil` on the whole
/// grid. The model is t(1)/p + messages·latency + bytes/bandwidth with the counts of the rank that sent most,
/// and t(1) in place of t(1)/p where each rank has as much work. Cells that GPUs copy from each other are in
/// no message.
/// @throws InvalidArgument for options out of range, BackendUnavailable, DeviceError.
BenchScalingReport bench_scaling(const BenchScalingOptions& options);

/// A table for people, one line a row.
std::string to_text(const BenchScalingReport& report);

/// {"benchmark": "scaling", "ranks", "threads", "gpu", "repeats", "latency", "bandwidth", "rows": [{"work",
/// "scaling": "strong" or "weak", "ranks", "size", "steps", "seconds", "speed_up", "efficiency",
/// "predicted_seconds", "messages", "bytes", "error", "same_bits", "description"}]}; steps, same_bits and
/// description are null for sums, error for grids.
std::string to_json(const BenchScalingReport& report);

/// The same into a file. @throws IoError.
void write_json(const BenchScalingReport& report, const std::filesystem::path& path);

/// Speed-ups against ranks, a curve for each work, and the ideal one. @throws IoError.
void write_picture(const BenchScalingReport& report, const std::filesystem::path& path);

} // namespace farfield
