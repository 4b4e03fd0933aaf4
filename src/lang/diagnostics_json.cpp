// Diagnostics as JSON, for editors and scripts.
#include "lang/diagnostics.h"

#include <nlohmann/json.hpp>

namespace farfield::lang {
namespace {

using nlohmann::ordered_json;

void add_place(ordered_json& json, const SourceText& source, Span span) {
    const auto begin = source.place(span.begin);
    const auto end = source.place(span.end);
    json["line"] = begin.line;
    json["column"] = begin.column;
    json["end_line"] = end.line;
    json["end_column"] = end.column;
}

ordered_json one(const SourceText& source, const Diagnostic& diagnostic) {
    ordered_json json;
    json["kind"] = diagnostic.kind->name;
    json["severity"] = name_of(diagnostic.kind->severity);
    json["message"] = diagnostic.message;
    json["remedy"] = diagnostic.remedy;
    if (diagnostic.span) add_place(json, source, *diagnostic.span);
    json["notes"] = ordered_json::array();
    for (const auto& note : diagnostic.notes) {
        ordered_json entry;
        entry["message"] = note.text;
        if (note.span) add_place(entry, source, *note.span);
        json["notes"].push_back(entry);
    }
    return json;
}

} // namespace

std::string to_json(const Diagnostics& diagnostics) {
    ordered_json json;
    json["file"] = diagnostics.source().name();
    json["errors"] = diagnostics.errors();
    json["warnings"] = diagnostics.warnings();
    json["diagnostics"] = ordered_json::array();
    for (const auto& diagnostic : diagnostics.sorted())
        json["diagnostics"].push_back(one(diagnostics.source(), diagnostic));
    return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n"; // bytes that are no UTF-8
}

} // namespace farfield::lang
