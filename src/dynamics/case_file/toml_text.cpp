#include "dynamics/case_file/toml_text.h"

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

} // namespace farfield
