// A reader for the one Python literal that .npy files hold: {'descr': '<f8', 'fortran_order': False,
// 'shape': (3, 4), }. Keys in any order; lists (records) are skipped as text.
#include "io/npy_header.h"

#include "io/messages.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <charconv>

namespace farfield {
namespace {

class HeaderReader {
public:
    HeaderReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

    NpyHeader read() {
        NpyHeader header;
        int seen = 0;
        expect('{');
        while (!accept('}')) {
            const auto key = string_literal();
            expect(':');
            seen |= value_of(key, header);
            if (!accept(',')) {
                expect('}');
                break;
            }
        }
        skip_spaces();
        if (at_ < text_.size()) fail("text after the dictionary");
        constexpr int all_three = 7;
        if (seen != all_three) fail("one of the keys descr, fortran_order, shape is missing");
        return header;
    }

private:
    // Returns a bit for the key, so that `read` knows when all are there.
    int value_of(std::string_view key, NpyHeader& header) {
        skip_spaces();
        if (key == "descr") {
            header.descr = peek() == '[' ? bracketed_text() : std::string(string_literal());
            return 1;
        }
        if (key == "fortran_order") {
            header.fortran_order = boolean();
            return 2;
        }
        if (key == "shape") {
            header.shape = tuple();
            return 4;
        }
        fail("unknown key " + printable(key));
    }

    [[noreturn]] void fail(std::string_view why) const {
        throw InvalidArgument(
            fmt::format("{}: the .npy header {} is not valid: {} (at character {}); save the array "
                        "again with numpy.save",
                        file_, printable(text_), why, at_));
    }
    [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    void skip_spaces() {
        while (peek() == ' ' || peek() == '\n' || peek() == '\t') ++at_;
    }
    bool accept(char c) {
        skip_spaces();
        if (peek() != c) return false;
        ++at_;
        return true;
    }
    void expect(char c) {
        if (!accept(c)) fail(fmt::format("expected '{}'", c));
    }
    std::string_view string_literal() {
        skip_spaces();
        const char quote = peek();
        if (quote != '\'' && quote != '"') fail("expected a quoted text");
        const auto end = text_.find(quote, at_ + 1);
        if (end == std::string_view::npos) fail("a quote is not closed");
        const auto inside = text_.substr(at_ + 1, end - at_ - 1);
        at_ = end + 1;
        return inside;
    }
    std::string bracketed_text() {
        const auto begin = at_;
        int depth = 0;
        do {
            if (peek() == '[') ++depth;
            if (peek() == ']') --depth;
            if (at_ >= text_.size()) fail("a bracket is not closed");
            ++at_;
        } while (depth > 0);
        return std::string(text_.substr(begin, at_ - begin));
    }
    bool boolean() {
        for (const bool value : {true, false}) {
            const std::string_view word = value ? "True" : "False";
            if (text_.substr(at_, word.size()) == word) {
                at_ += word.size();
                return value;
            }
        }
        fail("expected True or False");
    }
    std::vector<std::int64_t> tuple() {
        std::vector<std::int64_t> values;
        expect('(');
        while (!accept(')')) {
            skip_spaces();
            std::int64_t value = 0;
            const auto result = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
            if (result.ec != std::errc{} || value < 0) fail("a shape holds whole numbers from 0 to 2^63-1");
            at_ = static_cast<std::size_t>(result.ptr - text_.data());
            if (peek() == 'L') ++at_; // written by Python 2
            values.push_back(value);
            if (!accept(',')) {
                expect(')');
                break;
            }
        }
        return values;
    }

    std::string_view text_;
    std::string_view file_;
    std::size_t at_ = 0;
};

} // namespace

NpyHeader parse_npy_header(std::string_view text, std::string_view file) {
    return HeaderReader(text, file).read();
}

} // namespace farfield
