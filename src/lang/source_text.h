// The text of a program, and places in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::lang {

/// Bytes [begin, end) of a source text.
struct Span {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    friend bool operator==(Span, Span) = default;
};

/// From the start of the first to the end of the second.
constexpr Span join(Span first, Span last) {
    return {first.begin, last.end > first.begin ? last.end : first.begin};
}

/// Line and column as people count them: both from 1, columns in characters.
struct Place {
    int line = 1;
    int column = 1;
};

class SourceText {
public:
    /// Longer texts are cut here, with a diagnostic of the lexer.
    static constexpr std::size_t longest = std::size_t{1} << 20;

    /// `name` is what messages call the text: the path of a file, say.
    SourceText(std::string name, std::string text);

    const std::string& name() const { return name_; }
    std::string_view text() const { return text_; }
    std::string_view text(Span span) const;
    bool was_cut() const { return was_cut_; }

    Place place(std::uint32_t offset) const;
    /// The first byte of a line that counts from 1.
    std::uint32_t line_begin(int line) const { return line_begins_[static_cast<std::size_t>(line) - 1]; }
    /// Without the end of line.
    std::string_view line(int line) const;
    int lines() const { return static_cast<int>(line_begins_.size()); }

private:
    std::string name_;
    std::string text_;
    bool was_cut_ = false;
    std::vector<std::uint32_t> line_begins_;
};

/// The number of characters of a UTF-8 text; a byte that is no UTF-8 counts as one or none.
int character_count(std::string_view text);

} // namespace farfield::lang
