// What a run writes on its way: rows of diagnostics.csv, snapshots and their pictures, each at the first step
// that ends at or after start + k·every, and at the start and the end.
#pragma once

#include "dynamics/run/checkpoint.h"

#include "dynamics/run/diagnostics_rows.h"
#include "dynamics/run/folder.h"
#include "io/growing_file.h"
#include "io/picture/trails.h"
#include "io/snapshot.h"

#include <farfield/run.h>

#include <optional>

namespace farfield {

/// The output times start + k·every, k ≥ 1, met by steps of at most `step`. Comparisons allow for the
/// rounding of times.
struct OutputTimes {
    double start;
    double every; ///< 0: never due
    double step;

    [[nodiscard]] bool due(double time, std::uint64_t next) const;
    /// The first k that is not yet reached at `time`.
    [[nodiscard]] std::uint64_t next_after(double time) const;
};

class Outputs {
public:
    /// @throws IoError where diagnostics.csv cannot be opened, InvalidArgument where another run writes it.
    Outputs(const RunFolder& folder, const Case& simulation_case, const RunOrigin& origin, double start_time);

    /// What is to be written of one state.
    struct Due {
        bool row = false;
        bool snapshot = false;
    };

    /// Empties diagnostics.csv. What is due then is everything.
    void begin();
    /// Goes on from a checkpoint: diagnostics.csv is cut back to what the checkpoint knows.
    void continue_from(const Checkpoint& checkpoint);
    /// True where something is due at `time`.
    [[nodiscard]] bool is_due(double time) const;
    /// What is due at `time`, everything once the simulation has finished; counted as written.
    Due take_due(double time, bool finished);
    void write(const OutputState& state, const Due& due);
    /// Fills in the parts of a checkpoint that concern outputs, and makes diagnostics.csv durable.
    void save_to(Checkpoint& checkpoint);
    /// diagnostics.png, from the whole of diagnostics.csv.
    void plot_diagnostics_file() const;
    /// animation.png, from all snapshots in the folder.
    void animate_snapshots() const;

    [[nodiscard]] double relative_energy_error() const { return relative_energy_error_; }
    /// |E − E₀| / max(|E₀|, (T₀ + |V₀|)/10) of the last row of diagnostics.csv, whoever wrote it.
    [[nodiscard]] double energy_error() const;
    /// Of the last row written by this process.
    [[nodiscard]] const std::optional<Diagnostics>& last_row() const { return last_row_; }
    [[nodiscard]] std::uint64_t snapshots() const { return counters_.snapshots; }
    /// Seconds spent in diagnostics and in writing files.
    [[nodiscard]] double seconds() const { return seconds_; }

private:
    void write_row(const Diagnostics& row);
    void write_snapshot_files(const OutputState& state);
    void remember_for_trails(const OutputState& state);
    [[nodiscard]] bool draws_trails() const {
        return (options_.pictures || options_.animation) && !columns_.reinitialised;
    }

    [[nodiscard]] OutputTimes row_times() const { return {start_time_, options_.diagnostics_every, step_}; }
    [[nodiscard]] OutputTimes snapshot_times() const { return {start_time_, options_.snapshot_every, step_}; }

    const RunFolder& folder_;
    OutputOptions options_;
    SnapshotInfo info_;
    double start_time_;
    double step_;
    int threads_; ///< 0: all
    DiagnosticsColumns columns_;
    GrowingFile file_;
    OutputCounters counters_;
    double relative_energy_error_ = 0.0;
    std::optional<Diagnostics> last_row_;
    double seconds_ = 0.0;
    picture::Trails trails_; ///< of few bodies, for pictures
};

} // namespace farfield
