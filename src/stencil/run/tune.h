// Finds the fastest way to run a stencil program on this machine: what `farfield stencil tune` does.
#pragma once

#include "stencil/tuning/choice.h"

#include <farfield/stencil.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace farfield {

struct TuneTask {
    StencilProgram program;
    std::string target = "auto"; ///< auto, cpu, cuda
    int threads = 0;             ///< 0: all
    int device = 0;              ///< of GPUs
    int repeats = 3;
    double seconds = 0.1;                               ///< that a measurement takes at least
    std::function<void(const std::string&)> progress{}; ///< called with what is measured next; may be empty
};

struct TuneRow {
    stencil::Choice choice; ///< with its rate
    double stencils_per_second = 0;
};

struct TuneReport {
    std::string program;
    std::string target;
    std::string machine;       ///< CPU with threads, or GPU
    std::vector<TuneRow> rows; ///< as measured
    std::size_t best = 0;
};

/// Measures, and keeps the fastest choice: runs of this program with these parameters on this machine take
/// it unless they are told otherwise. Steps a pass first, then masks, then blocks, each with the best
/// so far.
/// @throws StencilError, InvalidArgument for a target that has nothing to choose, BackendUnavailable,
/// IoError.
TuneReport tune_stencil(const TuneTask& task);

std::string to_text(const TuneReport& report);
/// {"program", "target", "machine", "rows": [{"mask", "time_tile", "block", "fuse", "cell_steps_per_second",
/// "stencils_per_second", "best"}]}
std::string to_json(const TuneReport& report);
void write_json(const TuneReport& report, const std::filesystem::path& path);

} // namespace farfield
