// The stencil language on the CPU, timed: light in a whole grid and in a disk, with all mask strategies, one
// and several steps a pass over memory, beside a loop fused and tuned by hand that runs in the same round.
#pragma once

#include "studies/study_progress.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace farfield {

struct BenchStencilOptions {
    std::vector<std::int64_t> sizes{512, 1024, 2048, 4096}; ///< cells along a side, each ≥ 16
    int threads = 0;                                        ///< 0: as many as OpenMP would use
    int repeats = 5;
    double seconds = 0.1; ///< that a measurement takes at least, by the number of steps
    StudyProgress progress{};
};

/// Medians over the repeats; all rows of a size were measured in turn.
struct BenchStencilRow {
    std::string what;   ///< "hand-written", "one step a pass", "several steps a pass", "disk, spans", …
    std::string region; ///< "whole" or "disk"
    std::string mask;   ///< of the language; empty: hand-written
    std::int64_t n = 0;
    std::int64_t cells = 0; ///< updated a step
    int time_tile = 0;      ///< 0: as the target chose
    double seconds_a_step = 0.0;
    double cell_steps = 0.0;         ///< a second; a cell-step is all equations of a cell
    double fastest_cell_steps = 0.0; ///< of the repeats
    double against_plain =
        0.0; ///< median over the repeats of the rate over the hand-written loop's, same region
    double cell_against_whole = 0.0; ///< disks: median of the time of a cell over that in the whole grid,
                                     ///< same steps a pass
};

struct BenchStencilReport {
    int threads = 0;
    int repeats = 0;
    double compile_seconds = 0.0; ///< the longest, compiling and loading one program
    double load_seconds = 0.0;    ///< the longest, from the cache
    double triad = 0.0;           ///< bytes a second of a = b + s·c, 24 bytes an entry counted
    std::vector<BenchStencilRow> rows;
};

/// @throws BackendUnavailable without a C++ compiler; InternalError where the results of two rows of a region
/// differ in a bit.
BenchStencilReport bench_stencil(const BenchStencilOptions& options);

/// The program that is timed. @param disk else the whole grid.
std::string bench_stencil_program(bool disk);

std::string to_text(const BenchStencilReport& report);
/// {"benchmark": "stencil", "threads", "repeats", "compile_seconds", "load_seconds", "triad", "rows":
/// [{"what", "region", "mask", "n", "cells", "time_tile", "seconds_a_step", "cell_steps",
/// "fastest_cell_steps", "against_plain", "cell_against_whole"}]}
std::string to_json(const BenchStencilReport& report);
void write_json(const BenchStencilReport& report, const std::filesystem::path& path);

} // namespace farfield
