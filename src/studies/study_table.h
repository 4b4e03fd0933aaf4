// Tables in which numbers from elsewhere stand beside numbers measured here, as text and as JSON.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace farfield {

/// A value, or why there is none ("no GPU").
struct StudyValue {
    std::optional<double> value{};
    std::string missing{};
    std::optional<double> error{}; ///< relative L2 of the field behind the value
    bool measured = false;         ///< here

    /// Measured here.
    static StudyValue of(double value, std::optional<double> error = {}) { return {value, {}, error, true}; }
    /// Stands in a source or a theory, was chosen, or follows from a model.
    static StudyValue given(double value) { return {value, {}, {}, false}; }
    static StudyValue none(std::string why) { return {{}, std::move(why), {}, false}; }
};

struct StudyRow {
    std::string what;
    std::string source;             ///< where in the sources given values stand; may be empty
    std::vector<StudyValue> values; ///< one a column
};

struct StudyTable {
    std::string title; ///< with the unit
    std::vector<std::string> columns;
    std::vector<StudyRow> rows;
};

struct Study {
    std::string name;
    std::string title;
    std::string cpu;
    int threads = 0;
    std::string device; ///< name of the GPU, or "no GPU"
    int repeats = 0;
    std::string lacking; ///< what this machine cannot show, said before the tables; empty: nothing
    std::vector<StudyTable> tables;
    std::vector<std::string> notes;
    std::string about; ///< what the numbers are of; empty: the field of a Plummer sphere
};

std::string to_text(const Study& study);
/// {"study", "cpu", "threads", "device", "repeats", "model", "softening", "tables": [{"title", "columns",
/// "rows":
/// [{"what", "source", "values", "measured", "errors"}]}], "notes"}; null for what is missing; "measured"
/// says of each value whether it was measured here. With `about` that stands in place of model and softening.
std::string to_json(const Study& study);
void write_json(const Study& study, const std::filesystem::path& path);

} // namespace farfield
