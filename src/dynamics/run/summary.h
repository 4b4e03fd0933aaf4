// summary.json: what was run, on which machine, how long it took and how well energy was kept. The only file
// of a run with wall-clock times in it.
#pragma once

#include "dynamics/forces/forces.h"
#include "dynamics/run/checkpoint.h"
#include "dynamics/run/folder.h"

#include <farfield/run.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace farfield {

struct RunSummary {
    bool finished = false;
    double time = 0.0;
    std::uint64_t steps = 0;
    std::uint64_t bodies = 0;
    double relative_energy_error = 0.0;
    double energy_error = 0.0; ///< as in RunResult
    Diagnostics last_row;
    ForceBackend backend;
    ForceSettings force;
    Reinitialisations reinitialised;
    RunOrigin origin;
    std::string cost_table; ///< hash of the one that chose the backend; empty if the case named it
    int ranks = 1;          ///< that shared the forces
    int threads = 0;        ///< used by the forces, on each rank
    std::optional<std::uint64_t> restarted_from_step;
    // Of this process alone:
    std::uint64_t steps_here = 0;
    double pairs = 0.0;
    double seconds = 0.0;
    double force_seconds = 0.0;
    double output_seconds = 0.0;
    std::vector<std::string> notes;
    std::vector<std::string> warnings;
    std::vector<std::filesystem::path> files;
};

void write_summary(const RunFolder& folder, const Case& simulation_case, const RunSummary& summary);

} // namespace farfield
