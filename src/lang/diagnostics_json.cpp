// Diagnostics as JSON, for editors and scripts.
#include "lang/diagnostics.h"

#include "base/json.h"

namespace farfield::lang {
namespace {

void add_place(Json& json, const SourceText& source, Span span) {
    const auto begin = source.place(span.begin);
    const auto end = source.place(span.end);
    json["line"] = begin.line;
    json["column"] = begin.column;
    json["end_line"] = end.line;
    json["end_column"] = end.column;
}

Json one(const SourceText& source, const Diagnostic& diagnostic) {
    Json json;
    json["kind"] = diagnostic.kind->name;
    json["severity"] = name_of(diagnostic.kind->severity);
    json["message"] = diagnostic.message;
    json["remedy"] = diagnostic.remedy;
    if (diagnostic.span) add_place(json, source, *diagnostic.span);
    json["notes"] = Json::array();
    for (const auto& note : diagnostic.notes) {
        Json entry;
        entry["message"] = note.text;
        if (note.span) add_place(entry, source, *note.span);
        json["notes"].push_back(entry);
    }
    return json;
}

} // namespace

std::string to_json(const Diagnostics& diagnostics) {
    Json json;
    json["file"] = diagnostics.source().name();
    json["errors"] = diagnostics.errors();
    json["warnings"] = diagnostics.warnings();
    json["diagnostics"] = Json::array();
    for (const auto& diagnostic : diagnostics.sorted())
        json["diagnostics"].push_back(one(diagnostics.source(), diagnostic));
    return json.dump(2) + "\n"; // bytes that are no UTF-8
}

} // namespace farfield::lang
