// Lines and columns of a source text.
#include "lang/source_text.h"

#include <algorithm>
#include <utility>

namespace farfield::lang {

SourceText::SourceText(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.erase(0, 3); // the mark that some editors put first
    was_cut_ = text_.size() > longest;
    if (was_cut_) text_.resize(longest);
    line_begins_.push_back(0);
    for (std::size_t i = 0; i < text_.size(); ++i)
        if (text_[i] == '\n') line_begins_.push_back(static_cast<std::uint32_t>(i + 1));
}

std::string_view SourceText::text(Span span) const {
    const auto begin = std::min<std::size_t>(span.begin, text_.size());
    const auto end = std::clamp<std::size_t>(span.end, begin, text_.size());
    return std::string_view(text_).substr(begin, end - begin);
}

Place SourceText::place(std::uint32_t offset) const {
    const auto after = std::upper_bound(line_begins_.begin(), line_begins_.end(), offset);
    const auto line = static_cast<int>(after - line_begins_.begin());
    return {line, 1 + character_count(text({line_begin(line), offset}))};
}

std::string_view SourceText::line(int line) const {
    const auto begin = line_begin(line);
    const auto end = line < lines() ? line_begin(line + 1) - 1 : static_cast<std::uint32_t>(text_.size());
    auto view = text({begin, end});
    if (view.ends_with('\r')) view.remove_suffix(1);
    return view;
}

int character_count(std::string_view text) {
    return static_cast<int>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

} // namespace farfield::lang
