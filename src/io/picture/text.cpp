#include "io/picture/text.h"

#include "io/picture/glyphs.h"
#include "math/portable/functions.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <vector>

namespace farfield::picture {
namespace {

constexpr double pen_width = 0.135;  // of the height of capitals
constexpr double script_size = 0.68; // of raised and lowered text
constexpr double raised_by = 7.5;    // on the glyphs' grid
constexpr double lowered_by = -3.5;
constexpr double arc_step = 9.0; // degrees between the points of an arc
constexpr double degree = 0.017453292519943295;

// Reads a glyph's path; positions are scaled and moved to where the letter stands (y up).
class PathReader {
public:
    PathReader(std::string_view path, Point origin, double scale, std::vector<Polyline>& lines)
        : rest_(path), origin_(origin), scale_(scale), lines_(lines) {}

    void read() {
        lines_.emplace_back();
        for (char command = next_command(); command != '\0'; command = next_command()) {
            if (command == 'N' || command == 'M') lift();
            if (command == 'M' || command == 'L') {
                const double x = number();
                add(x, number());
            }
            if (command == 'A') arc();
        }
        if (lines_.back().empty()) lines_.pop_back();
    }

private:
    void lift() {
        if (!lines_.back().empty()) lines_.emplace_back();
    }
    void add(double x, double y) {
        lines_.back().push_back({origin_.x + scale_ * x, origin_.y + scale_ * y});
    }
    void arc() {
        const double cx = number();
        const double cy = number();
        const double rx = number();
        const double ry = number();
        const double from = number();
        const double to = number();
        const double steps = std::ceil(std::abs(to - from) / arc_step);
        for (double i = 0; i <= steps; i += 1.0) {
            const double angle = (from + (to - from) * i / steps) * degree;
            add(cx + rx * portable::cos(angle), cy + ry * portable::sin(angle));
        }
    }
    char next_command() {
        skip_blanks();
        if (rest_.empty()) return '\0';
        const char command = rest_.front();
        rest_.remove_prefix(1);
        return command;
    }
    double number() {
        skip_blanks();
        double value = 0.0;
        const auto result = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        rest_.remove_prefix(static_cast<std::size_t>(result.ptr - rest_.data()));
        return value;
    }
    void skip_blanks() {
        while (rest_.starts_with(' ')) rest_.remove_prefix(1);
    }

    std::string_view rest_;
    Point origin_;
    double scale_;
    std::vector<Polyline>& lines_;
};

// Takes one character off UTF-8 text; bytes that are no UTF-8 count as unknown characters.
char32_t take_character(std::string_view& text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    const std::size_t length = first < 0x80    ? 1
                               : first >= 0xF0 ? 4
                               : first >= 0xE0 ? 3
                               : first >= 0xC0 ? 2
                                               : 1;
    char32_t code = length == 1 ? first : first & (0xFFU >> (length + 1));
    if (length > text.size()) {
        text = {};
        return U'\0';
    }
    for (std::size_t i = 1; i < length; ++i) code = code << 6U | (byte(i) & 0x3FU);
    text.remove_prefix(length);
    return code;
}

// Sets text on the glyphs' grid from x = 0, y up; returns its width. Fills `lines` unless it is null.
double set_text(std::string_view text, std::vector<Polyline>* lines) {
    double x = 0.0;
    double scale = 1.0;
    double rise = 0.0;
    while (!text.empty()) {
        if (text.starts_with("_{") || text.starts_with("^{")) {
            rise = text.front() == '^' ? raised_by : lowered_by;
            scale = script_size;
            text.remove_prefix(2);
            continue;
        }
        if (scale != 1.0 && text.front() == '}') {
            rise = 0.0;
            scale = 1.0;
            text.remove_prefix(1);
            continue;
        }
        const auto& glyph = glyph_of(take_character(text));
        if (lines != nullptr) PathReader(glyph.path, {x, rise}, scale, *lines).read();
        x += scale * glyph.width + letter_gap;
    }
    return x > 0.0 ? x - letter_gap : 0.0;
}

} // namespace

double text_width(std::string_view text, double size) {
    return set_text(text, nullptr) * size / capital_height;
}

void draw_text(Canvas& canvas, Point anchor, std::string_view text, const TextStyle& style) {
    std::vector<Polyline> lines;
    const double width = set_text(text, &lines);
    const double scale = style.size / capital_height;
    const double start = style.align == Align::left     ? 0.0
                         : style.align == Align::centre ? -width / 2
                                                        : -width;
    for (auto& line : lines)
        for (auto& point : line) {
            const double along = scale * (start + point.x);
            const double up = scale * point.y;
            point = style.upwards ? Point{anchor.x - up, anchor.y - along}
                                  : Point{anchor.x + along, anchor.y - up};
        }
    canvas.stroke(lines, pen_width * style.size, style.colour);
}

} // namespace farfield::picture
