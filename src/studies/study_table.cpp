#include "studies/study_table.h"

#include "base/json.h"
#include "io/atomic_file.h"
#include "studies/bench_points.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace farfield {
namespace {

// Four significant digits without exponents where people would write none.
std::string number(double value) {
    if (value >= 1000.0 && value < 1e6) return fmt::format("{:.0f}", value);
    return fmt::format("{:.4g}", value);
}

std::string text_of(const StudyValue& value) {
    if (!value.value) return value.missing;
    return fmt::format("{}{}", value.measured ? ">" : "", number(*value.value));
}

std::optional<double> largest_error(const StudyRow& row) {
    std::optional<double> largest;
    for (const auto& value : row.values)
        if (value.error) largest = std::max(largest.value_or(0.0), *value.error);
    return largest;
}

std::size_t length(const std::string& text) { // in characters, for columns
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t width) {
    return text + std::string(width - std::min(width, length(text)), ' ');
}

void append(std::string& out, const StudyTable& table) {
    std::size_t first = 0;
    for (const auto& row : table.rows) first = std::max(first, length(row.what));
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        widths.push_back(std::max<std::size_t>(8, length(table.columns[c])));
        for (const auto& row : table.rows) widths[c] = std::max(widths[c], length(text_of(row.values[c])));
    }
    out += "\n" + table.title + "\n" + std::string(first + 2, ' ');
    for (std::size_t c = 0; c < table.columns.size(); ++c)
        out += "  " + std::string(widths[c] - length(table.columns[c]), ' ') + table.columns[c];
    out += '\n';
    for (const auto& row : table.rows) {
        out += "  " + padded(row.what, first);
        for (std::size_t c = 0; c < row.values.size(); ++c) {
            const auto text = text_of(row.values[c]);
            out += "  " + std::string(widths[c] - length(text), ' ') + text;
        }
        if (const auto error = largest_error(row)) out += fmt::format("  error {:.1e}", *error);
        out.erase(out.find_last_not_of(' ') + 1);
        out += '\n';
    }
}

} // namespace

std::string to_text(const Study& study) {
    const auto about =
        study.about.empty()
            ? fmt::format("a Plummer sphere, softening {}, field only.\nValues with > were measured here; "
                          "error: relative L2 of the field, float against inputs rounded to float.",
                          bench_softening)
            : study.about;
    auto out = fmt::format("{}\nCPU: {}, {} thread{}. GPU: {}. Medians of {}; {}\n", study.title, study.cpu,
                           study.threads, study.threads == 1 ? "" : "s", study.device, study.repeats, about);
    if (!study.lacking.empty()) out += '\n' + study.lacking + '\n';
    for (const auto& table : study.tables) append(out, table);
    if (!study.notes.empty()) out += '\n';
    for (const auto& note : study.notes) out += note + '\n';
    return out;
}

std::string to_json(const Study& study) {
    const auto or_null = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
    Json json{{"study", study.name},
              {"cpu", study.cpu},
              {"threads", study.threads},
              {"device", study.device},
              {"repeats", study.repeats}};
    if (study.about.empty()) {
        json["model"] = "plummer";
        json["softening"] = bench_softening;
    } else {
        json["about"] = study.about;
    }
    json["tables"] = Json::array();
    json["notes"] = study.notes;
    if (!study.lacking.empty()) json["notes"].push_front(study.lacking);
    for (const auto& table : study.tables) {
        Json rows = Json::array();
        for (const auto& row : table.rows) {
            Json values = Json::array(), errors = Json::array(), measured = Json::array();
            for (const auto& value : row.values) {
                values.push_back(or_null(value.value));
                errors.push_back(or_null(value.error));
                measured.push_back(value.measured);
            }
            Json told{{"what", row.what},
                      {"source", row.source.empty() ? Json() : Json(row.source)},
                      {"values", values},
                      {"measured", measured}};
            if (largest_error(row)) told["errors"] = errors;
            rows.push_back(std::move(told));
        }
        json["tables"].push_back({{"title", table.title}, {"columns", table.columns}, {"rows", rows}});
    }
    return json.dump(2) + "\n";
}

void write_json(const Study& study, const std::filesystem::path& path) {
    write_file_atomically(path, to_json(study));
}

} // namespace farfield
