#include "picture_words.h"

#include "options.h"
#include "stencil_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace farfield::app {
namespace {

bool is_number(std::string_view text, double& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
}

// Takes the last ":name=value" off the text if it is one of the parts that may stand there.
std::optional<std::pair<std::string, std::string>> take_part(std::string& text, bool animated) {
    const auto colon = text.rfind(':');
    if (colon == std::string::npos) return std::nullopt;
    const auto equals = text.find('=', colon);
    if (equals == std::string::npos) return std::nullopt;
    std::pair part{text.substr(colon + 1, equals - colon - 1), text.substr(equals + 1)};
    const auto is = [&](const char* name) { return part.first == name; };
    if (!is("range") && !is("slice") && !is("colours") && !(animated && is("every"))) return std::nullopt;
    text.resize(colon);
    return part;
}

void read_look(const std::string& option, const std::string& name, const std::string& value,
               StencilLook& look) {
    if (name == "range") {
        const auto comma = std::min(value.find(','), value.size() - 1);
        const std::string_view text = value;
        std::array<double, 2> ends{};
        if (value.empty() || !is_number(text.substr(0, comma), ends[0]) ||
            !is_number(text.substr(comma + 1), ends[1]) || !(ends[0] < ends[1]))
            throw InvalidArgument(fmt::format(
                "{}: behind range= stand two numbers, the smaller first, for example range=-1,1", option));
        look.range = ends;
    }
    if (name == "slice") {
        const auto cell = value.size() > 2 ? whole_number(std::string_view(value).substr(2)) : std::nullopt;
        if (!cell || *cell < 0 || value[1] != '=' ||
            std::string_view("xyz").find(value[0]) == std::string::npos)
            throw InvalidArgument(fmt::format(
                "{}: behind slice= stand an axis and the number of a cell, for example slice=z=12", option));
        look.slice = {value[0], *cell};
    }
    if (name == "colours") {
        const auto known = stencil_colours();
        if (std::find(known.begin(), known.end(), value) == known.end())
            unknown_choice(option + ": colours", value, known);
        look.colours = value;
    }
}

StencilAnimation picture_of(std::string text, const char* option, bool animated) {
    const auto whole = fmt::format("{} {}", option, text);
    StencilAnimation picture;
    while (const auto part = take_part(text, animated)) {
        const auto& [name, value] = *part;
        read_look(whole, name, value, picture.look);
        if (name != "every") continue;
        const auto every = whole_number(value);
        if (!every || *every < 1)
            throw InvalidArgument(
                fmt::format("{}: behind every= stands a number of steps, 1 or more", whole));
        picture.every = *every;
    }
    const auto colon = text.find(':');
    picture.field = text.substr(0, colon);
    picture.png = colon == std::string::npos ? "" : text.substr(colon + 1);
    if (picture.field.empty() || picture.png.empty())
        throw InvalidArgument(fmt::format("{} is not understood; give a field and a file, for example {} "
                                          "Hz:out.png",
                                          whole, option));
    if (picture.png.extension() != ".png")
        throw InvalidArgument(
            fmt::format("{}: pictures are PNG, and the name of the file must end in .png, for example {} "
                        "{}:out.png; behind it may stand :range=LOW,HIGH, :slice=AXIS=CELL, :colours=MAP{}",
                        whole, option, picture.field, animated ? " and :every=N" : ""));
    return picture;
}

} // namespace

StencilPlot stencil_plot(const std::string& text) {
    auto picture = picture_of(text, "--plot", false);
    return {std::move(picture.field), std::move(picture.png), std::move(picture.look)};
}

StencilAnimation stencil_animation(const std::string& text) { return picture_of(text, "--animate", true); }

} // namespace farfield::app
