// Tables in which numbers from elsewhere stand beside numbers measured here, as text and as JSON.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace farfield {

/// A value that was measured, or why it was not ("no GPU").
struct StudyValue {
    std::optional<double> value{};
    std::string missing{};
    std::optional<double> error{}; ///< relative L2 of the field behind the value

    static StudyValue of(double value, std::optional<double> error = {}) { return {value, {}, error}; }
    static StudyValue none(std::string why) { return {{}, std::move(why), {}}; }
};

struct StudyRow {
    std::string what;
    std::string source;             ///< where in the sources it stands; empty: measured here
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
/// [{"what", "source", "values", "errors"}]}], "notes"}; null for what was not measured. With
/// `about` that stands in place of model and softening.
std::string to_json(const Study& study);
void write_json(const Study& study, const std::filesystem::path& path);

} // namespace farfield
