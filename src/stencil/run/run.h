// Running a stencil program with the files it leaves behind: what `farfield stencil run` does.
//
// Two rates are told. A *cell-step* is one cell of a grid in one step, whether it lies in a subdomain or not.
// A *stencil* is one equation of an update or source at one cell where it applies.
#pragma once

#include <farfield/stencil.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace farfield {

/// A picture of a field, made when the run ends or stops.
struct StencilPlot {
    std::string field;
    std::filesystem::path png;
};

/// An animated PNG of a field.
struct StencilAnimation {
    std::string field;
    std::filesystem::path png;
    std::int64_t every = 0; ///< steps from frame to frame; 0: a hundred frames in all
};

struct StencilRunTask {
    StencilProgram program;
    StencilOptions options;
    std::optional<std::int64_t> steps; ///< at most one of the two; none: what the program says
    std::optional<double> end;
    std::filesystem::path out;
    bool restart = false;
    std::vector<StencilPlot> plots;
    std::vector<StencilAnimation> animations;
    std::int64_t checkpoint_steps = 0; ///< 0: by time
    double checkpoint_seconds = 600;   ///< of the clock; 0: only when stopped and at the end
};

struct StencilProgress {
    std::int64_t step = 0;
    std::int64_t steps_total = 0;
    double time = 0;
    double end = 0;
    double cell_steps_per_second = 0; ///< 0 before the first step
    double stencils_per_second = 0;
    double seconds_left = 0;
};

/// All may be empty.
struct StencilHooks {
    std::function<void(const StencilProgress&)> progress;
    std::function<bool()> stop_requested;
    std::function<void(const std::string&)> message; ///< one line
    std::function<void()> prepared; ///< the program is compiled; from now on stopping leaves a checkpoint
};

struct StencilRunResult {
    bool finished = false; ///< false: stopped, checkpoint written
    std::int64_t step = 0;
    double time = 0;
    std::int64_t steps_here = 0; ///< of this process
    double cell_steps_per_second = 0;
    double stencils_per_second = 0;
    std::vector<std::filesystem::path> files; ///< everything the run left, pictures included
};

/// Runs to the end or until `stop_requested`, writing into task.out what docs/guide/files.md lists. With
/// `restart` the run goes on from the newest checkpoint that is whole, and fields, series and frames become
/// byte-identical to those of an undisturbed run.
/// @throws StencilError, InvalidArgument (options, a folder with an earlier run, a checkpoint of another
///         program), IoError, BackendUnavailable, DeviceError; Error where a field is no longer finite, with
///         field, cell and step.
StencilRunResult run_stencil(const StencilRunTask& task, const StencilHooks& hooks);

} // namespace farfield
