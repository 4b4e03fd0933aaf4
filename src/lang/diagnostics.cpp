// Collecting diagnostics, and showing them with their line of the program.
#include "lang/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace farfield::lang {
namespace {

constexpr std::size_t widest_excerpt = 100;

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// One line of the program, cut to what fits a terminal around the bytes [begin, end) of it.
struct Excerpt {
    std::string line;
    std::string marks;
};

Excerpt excerpt(std::string_view line, std::size_t begin, std::size_t end) {
    begin = std::min(begin, line.size());
    end = std::clamp(end, begin, line.size());
    std::size_t first = begin > widest_excerpt - 30 ? begin - 30 : 0;
    std::size_t last = std::min(line.size(), first + widest_excerpt);
    while (first > 0 && continues_character(line[first])) --first;
    while (last < line.size() && continues_character(line[last])) ++last;
    end = std::min(end, last);
    std::string shown(line.substr(first, last - first));
    for (auto& c : shown)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
    Excerpt out;
    out.line = (first > 0 ? "…" : "") + shown + (last < line.size() ? "…" : "");
    const auto before = character_count(line.substr(first, begin - first)) + (first > 0 ? 1 : 0);
    const auto marked = std::max(1, character_count(line.substr(begin, end - begin)));
    out.marks = std::string(static_cast<std::size_t>(before), ' ') + '^' +
                std::string(static_cast<std::size_t>(marked - 1), '~');
    return out;
}

std::string place_text(const SourceText& source, std::optional<Span> span) {
    if (!span) return source.name();
    const auto place = source.place(span->begin);
    return fmt::format("{}:{}:{}", source.name(), place.line, place.column);
}

std::string source_lines(const SourceText& source, Span span) {
    const auto line = source.place(span.begin).line;
    const auto begin = source.line_begin(line);
    const auto shown = excerpt(source.line(line), span.begin - begin, span.end - begin);
    return fmt::format("{:5} | {}\n      | {}\n", line, shown.line, shown.marks);
}

std::string one_text(const SourceText& source, const Diagnostic& diagnostic) {
    auto out = fmt::format("{}: {}: {} [{}]\n", place_text(source, diagnostic.span),
                           name_of(diagnostic.kind->severity), diagnostic.message, diagnostic.kind->name);
    if (diagnostic.span) out += source_lines(source, *diagnostic.span);
    for (const auto& note : diagnostic.notes) {
        if (!note.span) {
            out += fmt::format("      = {}\n", note.text);
            continue;
        }
        out += fmt::format("{}: note: {}\n", place_text(source, note.span), note.text);
        out += source_lines(source, *note.span);
    }
    if (!diagnostic.remedy.empty()) out += fmt::format("      = help: {}\n", diagnostic.remedy);
    return out;
}

std::string counted(std::size_t n, std::string_view word) {
    return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s");
}

} // namespace

std::string_view name_of(Severity severity) { return severity == Severity::error ? "error" : "warning"; }

Diagnostic& Diagnostics::report(const DiagnosticKind& kind, std::optional<Span> span, std::string message,
                                std::string remedy) {
    const bool repeated = span && std::any_of(all_.begin(), all_.end(), [&](const Diagnostic& other) {
                              return other.kind == &kind && other.span == span;
                          });
    auto& count = kind.severity == Severity::error ? errors_ : warnings_;
    const bool surplus = repeated || count >= most;
    if (!repeated) ++count;
    Diagnostic diagnostic{&kind, span, std::move(message), std::move(remedy), {}};
    if (surplus) {
        surplus_ = std::move(diagnostic);
        return surplus_;
    }
    return all_.emplace_back(std::move(diagnostic));
}

bool Diagnostics::reported_between(std::uint32_t begin, std::uint32_t end) const {
    return std::any_of(all_.begin(), all_.end(), [&](const Diagnostic& one) {
        return one.kind->severity == Severity::error && one.span && one.span->begin >= begin &&
               one.span->begin <= end;
    });
}

std::vector<Diagnostic> Diagnostics::sorted() const {
    auto out = all_;
    std::stable_sort(out.begin(), out.end(), [](const Diagnostic& a, const Diagnostic& b) {
        const auto key = [](const Diagnostic& d) { return d.span ? std::int64_t{d.span->begin} : -1; };
        return key(a) < key(b);
    });
    return out;
}

std::string to_text(const Diagnostics& diagnostics) {
    std::string out;
    std::size_t shown = 0;
    for (const auto& diagnostic : diagnostics.sorted()) {
        out += one_text(diagnostics.source(), diagnostic);
        ++shown;
    }
    const auto total = diagnostics.errors() + diagnostics.warnings();
    if (total > shown)
        out += fmt::format("{}: {} not shown\n", diagnostics.source().name(),
                           counted(total - shown, "more message"));
    return out;
}

} // namespace farfield::lang
