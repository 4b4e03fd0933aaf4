#include "io/picture/axes.h"

#include "io/picture/text.h"
#include "math/portable/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace farfield::picture {
namespace {

// 10^n for whole n, by repeated multiplication: exact up to 22, the same everywhere beyond.
double power_of_ten(int n) {
    double power = 1.0;
    for (int i = 0; i < std::abs(n); ++i) power *= 10.0;
    return n < 0 ? 1.0 / power : power;
}

int decade_of(double value) { return static_cast<int>(std::floor(portable::log(value) * log10_e + 1e-12)); }

std::string with_real_minus(std::string_view text) {
    std::string out;
    for (const char c : text)
        if (c == '-')
            out += "−";
        else
            out += c;
    return out;
}

std::string with_thousands(std::string_view text) {
    const auto point = std::min(text.find('.'), text.size());
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (i > 0 && i < point && (point - i) % 3 == 0 && text[i - 1] != '-') out += ',';
        out += text[i];
    }
    return out;
}

struct Step {
    double length; // between ticks with a text
    int parts;     // small intervals in it
    int decimals;
};

Step step_for(double span, int wanted) {
    const double rough = span / wanted;
    const int decade = decade_of(rough);
    const double unit = power_of_ten(decade);
    for (const auto& [factor, parts] : {std::pair{1.0, 5}, {2.0, 4}, {5.0, 5}})
        if (rough <= factor * unit * 1.0001) return {factor * unit, parts, std::max(0, -decade)};
    return {10 * unit, 5, std::max(0, -decade - 1)};
}

std::vector<Tick> linear_ticks(const Axis& axis, int wanted) {
    const auto step = step_for(axis.high - axis.low, wanted);
    const double small = step.length / step.parts;
    const int exponent = common_exponent(axis, wanted);
    const int decimals = exponent == 0 ? step.decimals : std::clamp(exponent - decade_of(step.length), 0, 17);
    std::vector<Tick> ticks;
    for (double i = std::ceil(axis.low / small - 1e-9); i * small <= axis.high + 1e-9 * small; i += 1.0) {
        Tick tick{i * small, ""};
        const bool labelled = static_cast<std::int64_t>(i) % step.parts == 0;
        if (labelled)
            tick.text =
                with_real_minus(fmt::format("{:.{}f}", tick.value * power_of_ten(-exponent) + 0.0, decimals));
        ticks.push_back(tick);
    }
    return ticks;
}

// Decades, thinned to about `wanted`; small ticks at 2 … 9 where every decade has a text. Over a short range
// the values 2 and 5 are named too.
std::vector<Tick> decade_ticks(const Axis& axis, int wanted) {
    const int first = static_cast<int>(std::floor(axis.low));
    const int last = static_cast<int>(std::ceil(axis.high));
    const int every = std::max(1, (last - first + wanted - 1) / wanted);
    const bool short_range = axis.high - axis.low < 2.5;
    std::vector<Tick> ticks;
    for (int decade = first; decade <= last; ++decade)
        for (int digit = 1; digit < 10; ++digit) {
            const double value = decade + portable::log(static_cast<double>(digit)) * log10_e;
            if (value < axis.low - 1e-9 || value > axis.high + 1e-9 || (every > 1 && digit > 1)) continue;
            const bool named = digit == 1 ? decade % every == 0 : short_range && (digit == 2 || digit == 5);
            Tick tick{value, ""};
            if (named && decade >= -3 && decade <= 3)
                tick.text = number_text(digit * power_of_ten(decade));
            else if (named)
                tick.text = (digit == 1 ? "" : fmt::format("{}×", digit)) +
                            with_real_minus(fmt::format("10^{{{}}}", decade));
            ticks.push_back(tick);
        }
    return ticks;
}

void draw_line(Canvas& canvas, Point a, Point b, double width, Colour colour) {
    const Polyline line{a, b};
    canvas.stroke(std::span(&line, 1), width, colour);
}

} // namespace

int common_exponent(const Axis& axis, int wanted) {
    if (axis.logarithmic) return 0;
    const double largest = std::max(std::abs(axis.low), std::abs(axis.high));
    const bool plain = largest < 1e5 && step_for(axis.high - axis.low, wanted).length >= 1e-4;
    return plain ? 0 : decade_of(largest);
}

std::string exponent_text(int exponent) {
    return exponent == 0 ? std::string() : with_real_minus(fmt::format("×10^{{{}}}", exponent));
}

std::vector<Tick> ticks_of(const Axis& axis, int wanted) {
    return axis.logarithmic ? decade_ticks(axis, wanted) : linear_ticks(axis, wanted);
}

double round_up(double value) {
    const double unit = power_of_ten(decade_of(value));
    for (const double factor : {1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0})
        if (value <= factor * unit * 1.000001) return factor * unit;
    return 10 * unit;
}

std::string number_text(double value, int significant) {
    if (value == 0.0) return "0";
    const int decade = decade_of(std::abs(value));
    if (decade >= -3 && decade < 6) {
        auto text = fmt::format("{:.{}f}", value, std::max(0, significant - 1 - decade));
        if (text.find('.') != std::string::npos) {
            text.erase(text.find_last_not_of('0') + 1);
            if (text.ends_with('.')) text.pop_back();
        }
        return with_real_minus(with_thousands(text));
    }
    auto mantissa = fmt::format("{:.{}g}", value / power_of_ten(decade), significant);
    return with_real_minus(fmt::format("{}×10^{{{}}}", mantissa, decade));
}

void draw_frame(Canvas& canvas, const Rectangle& plot, const Axis& x, const Axis& y, const Theme& theme,
                const FrameParts& parts) {
    const double inward = parts.inward_ticks ? 1.0 : -1.0;
    for (const auto& tick : ticks_of(x, parts.x_ticks)) {
        const double at = plot.left + x.fraction(tick.value) * plot.width();
        const double length = inward * theme.tick * (tick.text.empty() ? 0.5 : 1.0);
        draw_line(canvas, {at, plot.bottom}, {at, plot.bottom - length}, theme.line, parts.ticks);
        if (parts.inward_ticks)
            draw_line(canvas, {at, plot.top}, {at, plot.top + length}, theme.line, parts.ticks);
        if (parts.x_texts)
            draw_text(canvas, {at, plot.bottom + 1.9 * theme.text}, tick.text,
                      {theme.text, theme.ink, Align::centre});
    }
    double widest = 0.0;
    for (const auto& tick : ticks_of(y, parts.y_ticks)) {
        const double at = plot.bottom - y.fraction(tick.value) * plot.height();
        const double length = inward * theme.tick * (tick.text.empty() ? 0.5 : 1.0);
        draw_line(canvas, {plot.left, at}, {plot.left + length, at}, theme.line, parts.ticks);
        if (parts.inward_ticks)
            draw_line(canvas, {plot.right, at}, {plot.right - length, at}, theme.line, parts.ticks);
        draw_text(canvas, {plot.left - 0.8 * theme.text, at + 0.5 * theme.text}, tick.text,
                  {theme.text, theme.ink, Align::right});
        widest = std::max(widest, text_width(tick.text, theme.text));
    }
    const std::array<Polyline, 1> frame{{{{plot.left, plot.top},
                                          {plot.right, plot.top},
                                          {plot.right, plot.bottom},
                                          {plot.left, plot.bottom},
                                          {plot.left, plot.top}}}};
    canvas.stroke(frame, theme.line, theme.ink);
    if (parts.x_texts)
        draw_text(canvas, {(plot.left + plot.right) / 2, plot.bottom + 4.3 * theme.text}, x.label,
                  {1.15 * theme.text, theme.ink, Align::centre});
    if (parts.x_texts)
        draw_text(canvas, {plot.right, plot.bottom + 4.3 * theme.text},
                  exponent_text(common_exponent(x, parts.x_ticks)), {theme.text, theme.ink, Align::right});
    draw_text(canvas, {plot.left - 0.8 * theme.text, plot.top - theme.text},
              exponent_text(common_exponent(y, parts.y_ticks)), {theme.text, theme.ink, Align::right});
    const double distance = std::max(parts.y_label_distance, widest + 1.9 * theme.text);
    draw_text(canvas, {plot.left - distance, (plot.top + plot.bottom) / 2}, y.label,
              {1.15 * theme.text, theme.ink, Align::centre, true});
}

void draw_right_axis(Canvas& canvas, const Rectangle& bar, const Axis& axis, const Theme& theme, int wanted) {
    double widest = 0.0;
    for (const auto& tick : ticks_of(axis, wanted)) {
        const double at = bar.bottom - axis.fraction(tick.value) * bar.height();
        const double length = theme.tick * (tick.text.empty() ? 0.4 : 0.7);
        draw_line(canvas, {bar.right, at}, {bar.right + length, at}, theme.line, theme.ink);
        draw_text(canvas, {bar.right + theme.tick + 0.4 * theme.text, at + 0.5 * theme.text}, tick.text,
                  {theme.text, theme.ink, Align::left});
        widest = std::max(widest, text_width(tick.text, theme.text));
    }
    draw_text(canvas, {bar.left, bar.top - theme.text}, exponent_text(common_exponent(axis, wanted)),
              {theme.text, theme.ink, Align::left});
    const std::array<Polyline, 1> frame{{{{bar.left, bar.top},
                                          {bar.right, bar.top},
                                          {bar.right, bar.bottom},
                                          {bar.left, bar.bottom},
                                          {bar.left, bar.top}}}};
    canvas.stroke(frame, theme.line, theme.ink);
    draw_text(canvas, {bar.right + theme.tick + widest + 2.9 * theme.text, (bar.top + bar.bottom) / 2},
              axis.label, {1.15 * theme.text, theme.ink, Align::centre, true});
}

} // namespace farfield::picture
