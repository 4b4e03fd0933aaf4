// What is wrong with a program: messages with a place in its text, for people and as JSON.
#pragma once

#include "lang/source_text.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::lang {

enum class Severity : std::uint8_t { error, warning };
std::string_view name_of(Severity severity);

/// One kind of message. Kinds live in tables (diagnostic_kinds.h here, another in stencil/); golden tests and
/// the guide have an example of each.
struct DiagnosticKind {
    std::string_view name; ///< stable, in words with hyphens; shown in brackets
    Severity severity = Severity::error;
    std::string_view summary; ///< one line for lists
};

/// More about a diagnostic, perhaps at another place of the text.
struct Note {
    std::string text;
    std::optional<Span> span;
};

struct Diagnostic {
    const DiagnosticKind* kind = nullptr;
    std::optional<Span> span; ///< absent: the program as a whole, or the command line
    std::string message;      ///< what is wrong, with the value
    std::string remedy;       ///< what to write instead; may be empty
    std::vector<Note> notes;
};

/// Collects diagnostics of one source text. Reporting never throws; after `most` errors (and `most` warnings)
/// further ones are only counted.
class Diagnostics {
public:
    static constexpr std::size_t most = 20;

    explicit Diagnostics(const SourceText& source) : source_(&source) {}

    /// The reference is valid until the next report. A kind is reported once at a place.
    Diagnostic& report(const DiagnosticKind& kind, std::optional<Span> span, std::string message,
                       std::string remedy = {});

    /// Whether an error begins in [begin, end].
    bool reported_between(std::uint32_t begin, std::uint32_t end) const;

    bool has_errors() const { return errors_ > 0; }
    /// Enough was reported: whoever reads the program may stop.
    bool full() const { return errors_ >= most; }
    std::size_t errors() const { return errors_; }
    std::size_t warnings() const { return warnings_; }
    const SourceText& source() const { return *source_; }

    /// In the order of the text; those without a place come first.
    std::vector<Diagnostic> sorted() const;

private:
    const SourceText* source_;
    std::vector<Diagnostic> all_;
    Diagnostic surplus_; // takes what is only counted
    std::size_t errors_ = 0;
    std::size_t warnings_ = 0;
};

/// Each with file:line:column, the line, a caret and the remedy. Control characters of the program are shown
/// as blanks. Empty where nothing was reported.
std::string to_text(const Diagnostics& diagnostics);

/// {"file", "errors", "warnings", "diagnostics": [{"kind", "severity", "message", "remedy", "line", "column",
/// "end_line", "end_column", "notes"}]}; two spaces an indent, newline at the end.
std::string to_json(const Diagnostics& diagnostics);

} // namespace farfield::lang
