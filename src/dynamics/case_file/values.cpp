// Type and range checks of case file values.
#include "dynamics/case_file/values.h"

#include "base/text.h"
#include "sums/lengths.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

namespace farfield::case_file {
namespace {

std::string shown(const Value& value) {
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *whole);
    if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
    return '"' + std::get<std::string>(value) + '"';
}

std::string_view expected(KeyType type) {
    switch (type) {
    case KeyType::boolean:
        return "true or false";
    case KeyType::integer:
        return "a whole number (no decimal point)";
    case KeyType::number:
        return "a number";
    case KeyType::lengths:
        return "a length, or three lengths in brackets";
    default:
        return "a text in quotes";
    }
}

std::string example_of(const Key& key) {
    const auto value = key.example.empty() ? std::string_view(key.default_text) : key.example;
    return fmt::format(", for example {} = {}", key.name, value);
}

bool within(const AllowedRange& range, double value) {
    return (range.low_open ? value > range.low : value >= range.low) &&
           (range.high_open ? value < range.high : value <= range.high);
}

void check_number(const Key& key, const std::string& place, double value, const Value& raw) {
    const auto allowed = describe(key.range);
    if (!std::isfinite(value))
        throw InvalidArgument(fmt::format("{}: {} = {} is not allowed: it must be a finite number{}{}", place,
                                          full_name(key), shown(raw),
                                          allowed.empty() ? "" : " and " + allowed, example_of(key)));
    if (!within(key.range, value))
        throw InvalidArgument(fmt::format("{}: {} = {} is not allowed: it must be {}{}", place,
                                          full_name(key), shown(raw), allowed, example_of(key)));
}

void check_text(const Key& key, const std::string& place, const std::string& text) {
    if (key.type == KeyType::choice) {
        const auto allowed = key.choices();
        for (auto name : allowed)
            if (name == text) return;
        throw InvalidArgument(fmt::format("{}: {} = \"{}\" is not known{}", place, full_name(key), text,
                                          suggestion(text, allowed)));
    }
    if (key.type == KeyType::device) {
        try {
            device_from_name(text);
        } catch (const InvalidArgument& error) {
            throw InvalidArgument(fmt::format("{}: {}: {}", place, full_name(key), error.what()));
        }
    }
    if (key.type == KeyType::unit) {
        try {
            (void)key.read_unit(text);
        } catch (const InvalidArgument& error) {
            throw InvalidArgument(fmt::format("{}: {}: {}", place, full_name(key), error.what()));
        }
    }
    if (text.empty())
        throw InvalidArgument(fmt::format("{}: {} is empty{}", place, full_name(key), example_of(key)));
    for (const char c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            throw InvalidArgument(fmt::format("{}: {} holds a control character", place, full_name(key)));
    if (key.type == KeyType::text && (text.find('/') != std::string::npos || text == "." || text == ".."))
        throw InvalidArgument(
            fmt::format("{}: {} = \"{}\" is not allowed: it becomes the name of a folder, so leave out '/'{}",
                        place, full_name(key), text, example_of(key)));
}

// The lengths, as they are written from now on.
std::string lengths_of(const Key& key, const std::string& place, const Value& raw) {
    if (std::holds_alternative<bool>(raw)) wrong_type(key, place, shown(raw));
    const auto* text = std::get_if<std::string>(&raw);
    Lengths lengths;
    try {
        lengths = lengths_from_text(text != nullptr ? *text : shown(raw));
    } catch (const InvalidArgument& error) {
        throw InvalidArgument(
            fmt::format("{}: {}: {}{}", place, full_name(key), error.what(), example_of(key)));
    }
    if (lengths == Lengths{})
        throw InvalidArgument(fmt::format("{}: {} = {} is not allowed: leave it out for open space{}", place,
                                          full_name(key), shown(raw), example_of(key)));
    return text_of_lengths(lengths);
}

// The whole of `text` as a number, or nothing.
template <class T>
std::optional<T> parsed(std::string_view text) {
    if (!text.empty() && text.front() == '+') text.remove_prefix(1);
    T value{};
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string_view without_quotes(std::string_view text) {
    if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front())
        return text.substr(1, text.size() - 2);
    return text;
}

} // namespace

std::string describe(const AllowedRange& range) {
    std::string out;
    if (std::isfinite(range.low)) out = fmt::format("{} {}", range.low_open ? ">" : "≥", range.low);
    if (std::isfinite(range.high))
        out += fmt::format("{}{} {}", out.empty() ? "" : " and ", range.high_open ? "<" : "≤", range.high);
    return out;
}

void wrong_type(const Key& key, const std::string& place, std::string_view what_it_is) {
    throw InvalidArgument(fmt::format("{}: {} = {}: expected {}{}", place, full_name(key), what_it_is,
                                      expected(key.type), example_of(key)));
}

Value checked_value(const Key& key, const std::string& place, const Value& raw) {
    if (key.type == KeyType::number) {
        double value = 0.0;
        if (const auto* whole = std::get_if<std::int64_t>(&raw))
            value = static_cast<double>(*whole);
        else if (const auto* real = std::get_if<double>(&raw))
            value = *real;
        else
            wrong_type(key, place, shown(raw));
        check_number(key, place, value, raw);
        return value;
    }
    if (key.type == KeyType::lengths) return lengths_of(key, place, raw);
    const bool fits = key.type == KeyType::boolean   ? std::holds_alternative<bool>(raw)
                      : key.type == KeyType::integer ? std::holds_alternative<std::int64_t>(raw)
                                                     : std::holds_alternative<std::string>(raw);
    if (!fits) wrong_type(key, place, shown(raw));
    if (const auto* whole = std::get_if<std::int64_t>(&raw))
        check_number(key, place, static_cast<double>(*whole), raw);
    if (const auto* text = std::get_if<std::string>(&raw)) check_text(key, place, *text);
    return raw;
}

Value parse_value(const Key& key, const std::string& place, std::string_view text) {
    switch (key.type) {
    case KeyType::boolean:
        if (text == "true" || text == "false") return text == "true";
        break;
    case KeyType::integer:
        if (const auto value = parsed<std::int64_t>(text)) return checked_value(key, place, *value);
        break;
    case KeyType::number:
        if (const auto value = parsed<double>(text)) return checked_value(key, place, *value);
        break;
    case KeyType::lengths:
        text = without_quotes(text);
        if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
        return checked_value(key, place, std::string(text));
    default:
        return checked_value(key, place, std::string(without_quotes(text)));
    }
    wrong_type(key, place, text.empty() ? std::string("(nothing)") : '"' + std::string(text) + '"');
}

} // namespace farfield::case_file
