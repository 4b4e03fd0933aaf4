// Diagnostics: their text, their order, their limits.
#include "lang/diagnostic_kinds.h"

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace farfield::lang;

constexpr DiagnosticKind error_kind{"some-error", Severity::error, ""};
constexpr DiagnosticKind warning_kind{"some-warning", Severity::warning, ""};

} // namespace

TEST(Diagnostics, ShowTheLineWithTheColumnCountedInCharacters) {
    const SourceText source("a.ff", "first\nµ = µ0 + oops\n");
    Diagnostics diagnostics(source);
    const auto at = static_cast<std::uint32_t>(source.text().find("oops"));
    diagnostics.report(error_kind, Span{at, at + 4}, "there is no 'oops'", "remove it")
        .notes.push_back({"it began here", Span{0, 5}});
    EXPECT_EQ(to_text(diagnostics), "a.ff:2:10: error: there is no 'oops' [some-error]\n"
                                    "    2 | µ = µ0 + oops\n"
                                    "      |          ^~~~\n"
                                    "a.ff:1:1: note: it began here\n"
                                    "    1 | first\n"
                                    "      | ^~~~~\n"
                                    "      = help: remove it\n");
}

TEST(Diagnostics, AreShownInTheOrderOfTheText) {
    const SourceText source("a.ff", "abc\n");
    Diagnostics diagnostics(source);
    diagnostics.report(warning_kind, Span{2, 3}, "third");
    diagnostics.report(error_kind, Span{1, 2}, "second");
    diagnostics.report(error_kind, std::nullopt, "first");
    const auto sorted = diagnostics.sorted();
    ASSERT_EQ(sorted.size(), 3U);
    EXPECT_EQ(sorted[0].message + sorted[1].message + sorted[2].message, "firstsecondthird");
    EXPECT_EQ(diagnostics.errors(), 2U);
    EXPECT_EQ(diagnostics.warnings(), 1U);
}

TEST(Diagnostics, RepeatThemselvesOnceAndStopAtTheLimit) {
    const SourceText source("a.ff", std::string(100, 'a'));
    Diagnostics diagnostics(source);
    for (int i = 0; i < 3; ++i) diagnostics.report(error_kind, Span{0, 1}, "the same");
    EXPECT_EQ(diagnostics.errors(), 1U);
    for (std::uint32_t i = 1; i < 50; ++i) {
        EXPECT_EQ(diagnostics.full(), i >= Diagnostics::most);
        diagnostics.report(error_kind, Span{i, i + 1}, "another");
        diagnostics.report(warning_kind, Span{i, i + 1}, "a warning");
    }
    EXPECT_EQ(diagnostics.sorted().size(), 2 * Diagnostics::most);
    EXPECT_EQ(diagnostics.errors(), 50U);
    EXPECT_NE(to_text(diagnostics).find("a.ff: 59 more messages not shown"), std::string::npos);
}

TEST(Diagnostics, ControlCharactersAndBrokenUtf8DoNoHarm) {
    const SourceText source("a.ff", "\x1b[31m\x07 \xff\xfe\xc3");
    Diagnostics diagnostics(source);
    diagnostics.report(error_kind, Span{0, 10}, "odd");
    EXPECT_EQ(to_text(diagnostics).find('\x1b'), std::string::npos);
    EXPECT_NE(to_json(diagnostics).find("\"column\": 1"), std::string::npos);
}

TEST(SourceText, LongTextsAreCutAndMarksOfEditorsIgnored) {
    EXPECT_TRUE(SourceText("a.ff", std::string(SourceText::longest + 1, 'a')).was_cut());
    EXPECT_FALSE(SourceText("a.ff", std::string(SourceText::longest, 'a')).was_cut());
    EXPECT_EQ(SourceText("a.ff", "\xEF\xBB\xBFlet").text(), "let");
    const SourceText empty("a.ff", "");
    EXPECT_EQ(empty.lines(), 1);
    EXPECT_EQ(empty.line(1), "");
}
