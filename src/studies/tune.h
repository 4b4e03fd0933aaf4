// Measures what sums cost on this machine and keeps it as the user's cost table: what `farfield tune` does.
#pragma once

#include "studies/study_progress.h"

#include <farfield/sum.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace farfield {

struct CostTuneTask {
    Method method = Method::automatic; ///< whose coefficients; `automatic`: of all that have any
    DeviceChoice device{};             ///< automatic: the CPU, and the first GPU if there is one
    int threads = 0;                   ///< of the CPU, 0: all
    int repeats = 3;                   ///< the fastest counts
    int points = 16384;                ///< of the largest sum
    std::filesystem::path out;         ///< empty: the user's file
    bool dry_run = false;              ///< writes nothing
    StudyProgress progress{};
    std::function<bool()> stop_requested{}; ///< asked between measurements
};

struct CostRow {
    std::string name;
    double shipped = 0.0;
    double before = 0.0; ///< by the file as it was
    double measured = 0.0;
};

struct CostTuneReport {
    bool stopped = false; ///< then nothing was written, and rows are missing
    std::string cpu;
    int threads = 0;
    std::string gpu; ///< its name, or why none was measured
    std::vector<CostRow> rows;
    std::filesystem::path file;
    bool is_user_file = false; ///< the one that other commands of this environment read
    bool written = false;
    std::string hash_before; ///< of the shipped table with the file as it was over it
    std::string hash_after;
    std::string text; ///< the file's new content
    std::vector<std::string> notes;
};

/// Measures, and writes the file, complete or not at all. Coefficients of the earlier file that were not
/// measured stay; a file that cannot be read is replaced.
/// @throws InvalidArgument, BackendUnavailable for a GPU that is not there, DeviceError, IoError.
CostTuneReport tune_costs(const CostTuneTask& task);

std::string to_text(const CostTuneReport& report);
/// {"cpu", "threads", "gpu", "file", "written", "hash_before", "hash_after", "costs": [{"name", "shipped",
/// "before", "measured"}], "notes"}
std::string to_json(const CostTuneReport& report);
void write_json(const CostTuneReport& report, const std::filesystem::path& path);

} // namespace farfield
