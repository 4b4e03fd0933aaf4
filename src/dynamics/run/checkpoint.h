// Checkpoints: everything that a run needs to go on as if it had never stopped. Two generations are kept; a
// file is complete or absent, and carries a checksum of its content.
#pragma once

#include "dynamics/run/folder.h"
#include "dynamics/simulation/state.h"
#include "io/picture.h"
#include "io/picture/trails.h"

#include <farfield/units.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace farfield {

/// Which outputs come next. The k-th of a kind is due at the first step that ends at or after start +
/// k·every.
struct OutputCounters {
    std::uint64_t next_snapshot = 1;    ///< k
    std::uint64_t next_diagnostics = 1; ///< k
    std::uint64_t snapshots = 0;        ///< written so far: the number of the next file
    PictureFrame frame;                 ///< of every picture of the run; width 0: none drawn yet
};

/// What a run remembers of its beginning.
struct RunOrigin {
    Units units{};          ///< of the bodies
    std::string G{};        ///< where G is from, in words
    std::string file_sum{}; ///< SHA-256 of the file of bodies; empty for a model
    std::string names{};    ///< of the bodies (names_text of io/snapshot.h); empty: they have none
};

struct Checkpoint {
    SimulationState state;
    OutputCounters outputs;
    double start_time = 0.0;
    double relative_energy_error = 0.0;  ///< of the last row of diagnostics.csv
    std::uint64_t diagnostics_bytes = 0; ///< length of diagnostics.csv, already durable
    std::string deciding_text;           ///< of the case (case_text.h); empty for a simulation without one
    ForceOptions force;                  ///< as asked for
    TimeOptions time;
    ForceBackend backend;
    std::string cost_table; ///< hash of the one that chose the backend; empty if the case named it
    std::string version;    ///< of Farfield
    RunOrigin origin;
    picture::TrailMoments trails; ///< of pictures of few bodies
};

/// Writes checkpoint.h5; the one before becomes checkpoint.previous.h5.
void write_checkpoint(const RunFolder& folder, const Checkpoint& checkpoint);

/// The content of such a file, without its seal.
std::vector<std::byte> checkpoint_image(const Checkpoint& checkpoint);

/// @throws IoError or InvalidArgument where the file cannot be read or its content is damaged.
Checkpoint read_checkpoint(const std::filesystem::path& path);
/// The same for the content of a file; `name` stands in messages.
Checkpoint checkpoint_from_image(std::span<const std::byte> image, const std::string& name);

/// The newest checkpoint that can be read; empty where there is none. A damaged one is told by `message`.
/// @throws IoError where there are checkpoints but none can be read.
std::optional<Checkpoint> newest_checkpoint(const RunFolder& folder,
                                            const std::function<void(const std::string&)>& message);

} // namespace farfield
