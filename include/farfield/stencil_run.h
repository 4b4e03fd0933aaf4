// Running a stencil program with the files it leaves behind, as `farfield stencil run` does. A StencilRun
// (farfield/stencil.h) keeps everything in memory.
//
//     farfield::StencilRunSettings settings{.out = "disk", .steps = 2000};
//     settings.plots = {{"Hz", "hz.png"}};
//     farfield::run_stencil(farfield::StencilProgram::from_file("microdisk.ff", {{"cells", 256}}), settings);
//
// Two rates are told. A *cell-step* is one cell of a grid in one step, whether it lies in a subdomain or not.
// A *stencil* is one equation of an update or source at one cell where it applies.
#pragma once

#include <farfield/stencil.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace farfield {

/// A slice of a field: the cells whose index along an axis of the grid is `index`. One of three axes leaves
/// a plane, one of two a line.
struct StencilSlice {
    char axis = 'z'; ///< x, y or z
    std::int64_t index = 0;
    friend bool operator==(const StencilSlice&, const StencilSlice&) = default;
};

/// How a picture shows a field.
struct StencilLook {
    std::optional<std::array<double, 2>>
        range{};                         ///< of the colours, low < high; none: chosen from the values
    std::optional<StencilSlice> slice{}; ///< none: all of a field, the middle along z of a 3D one
    std::string colours = "auto";        ///< auto, heat, ocean, grey, blue-red or purple-green
};

/// The names of colours.
std::vector<std::string_view> stencil_colours();

/// A picture of a field, drawn when the run ends or stops.
struct StencilPlot {
    std::string field;
    std::filesystem::path png; ///< its name ends in .png
    StencilLook look{};
};

/// An animated PNG of a field; a field has one at most.
struct StencilAnimation {
    std::string field;
    std::filesystem::path png; ///< its name ends in .png
    std::int64_t every = 0;    ///< steps from frame to frame; 0: a hundred frames in all
    StencilLook look{};
};

struct StencilRunSettings {
    /// Created if missing; refused if it holds an earlier run, without `restart` or `overwrite`.
    std::filesystem::path out;
    bool restart = false;
    bool overwrite = false; ///< removes the files of an earlier run, once the program is known to run
    /// Where the run ends, counted from its beginning: at most one of the two; none: what the program says.
    std::optional<std::int64_t> steps{};
    std::optional<double> end{}; ///< a time; the last step ends at or after it
    StencilOptions options{};    ///< the target, masks, threads; they may change from restart to restart
    std::vector<StencilPlot> plots{};
    std::vector<StencilAnimation> animations{};
    std::int64_t checkpoint_steps = 0; ///< steps between checkpoints; 0: by the clock
    double checkpoint_seconds = 600;   ///< of the clock between them; 0: only when stopped and at the end
};

/// What a progress display needs, ten times a second or after each step if that is longer.
struct StencilRunProgress {
    std::int64_t step = 0;
    std::int64_t steps_total = 0;
    double time = 0;
    double end = 0;
    double cell_steps_per_second = 0; ///< 0 before the first step
    double stencils_per_second = 0;
    double seconds_left = 0;
};

/// How the caller watches and stops a run. All may be empty.
struct StencilRunHooks {
    std::function<void(const StencilRunProgress&)> progress;
    std::function<bool()> stop_requested;            ///< asked as often as progress is told
    std::function<void(const std::string&)> message; ///< one line: warnings and notes
    /// Before that: told which share of the cells of a condition is done, on any thread, once at a time.
    std::function<void(double)> finding_cells;
    std::function<void()> prepared; ///< the program is compiled; from now on stopping leaves a checkpoint
};

struct StencilRunResult {
    bool finished = false; ///< false: stopped by `stop_requested`, checkpoint written
    std::int64_t step = 0;
    double time = 0;
    std::int64_t steps_here = 0; ///< of this process
    double cell_steps_per_second = 0;
    double stencils_per_second = 0;
    std::vector<std::filesystem::path> files; ///< everything the run left, pictures included
};

/// Runs to the end or until `stop_requested`, writing into `settings.out` what docs/guide/files.md lists:
/// fields (FIELD_NNNNNNNN.vtkhdf), series.csv, program.ff, checkpoints and summary.json.
///
/// With `restart` the run goes on from the newest checkpoint that is whole, and fields, series and frames
/// become byte-identical to those of an undisturbed run. The program, the values of its parameters and the
/// files it reads must be those from before; settings may change, and the end may move to later.
///
/// On several ranks (StencilOptions::communicator) all make this call: rank 0 alone touches the folder and
/// calls `progress` and `message`, every rank is asked to stop, and all return and throw alike. A run may be
/// restarted on another number of ranks.
///
/// @throws StencilError, InvalidArgument (settings, a folder with an earlier run, a checkpoint of another
///         program), IoError, BackendUnavailable, DeviceError; Error where a field is no longer finite, with
///         field, cell and step.
StencilRunResult run_stencil(const StencilProgram& program, const StencilRunSettings& settings,
                             const StencilRunHooks& hooks = {});

/// Writes fields, step, records and the program with its parameters to a file, in the format of
/// checkpoint.h5; an earlier file is replaced as a whole. @throws IoError; InvalidArgument where a field is
/// not finite.
void save_stencil_run(StencilRun& run, const std::filesystem::path& path);

/// The run of such a file: it goes on to the same bits as the one that was saved, whatever the options. Files
/// that the program reads must be those of before.
/// @throws IoError where the file cannot be read or is damaged; InvalidArgument for the checkpoint of
///         run_stencil, which only goes on in its folder, another version of Farfield, or a changed file that
///         the program reads; and as StencilRun's constructor does.
StencilRun load_stencil_run(const std::filesystem::path& path, const StencilOptions& options = {});

} // namespace farfield
