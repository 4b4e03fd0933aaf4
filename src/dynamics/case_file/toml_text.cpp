#include "dynamics/case_file/toml_text.h"

#include "sums/lengths.h"

#include <fmt/format.h>

#include <cmath>

namespace farfield {

std::string toml_number(double value) {
    auto text = fmt::format("{}", value);
    if (text.find_first_of(".e") == std::string::npos && std::isfinite(value)) text += ".0";
    return text;
}

std::string toml_string(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) < 0x20)
            out += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
        else
            out += c;
    }
    return out + "\"";
}

std::string toml_text(const OptionValue& value) {
    if (const auto* number = std::get_if<double>(&value)) return toml_number(*number);
    if (const auto* text = std::get_if<std::string>(&value)) return toml_string(*text);
    return text_of(value);
}

std::string toml_lengths(std::string_view lengths) {
    const auto values = lengths_from_text(lengths);
    if (lengths.find(',') == std::string_view::npos) return toml_number(values[0]);
    return fmt::format("[{}, {}, {}]", toml_number(values[0]), toml_number(values[1]),
                       toml_number(values[2]));
}

std::string toml_value(const OptionInfo& option, const OptionValue& value) {
    if (option.type == OptionType::lengths) return toml_lengths(std::get<std::string>(value));
    return toml_text(value);
}

} // namespace farfield
