// Reads TOML with toml++ and looks every key up in the table; the only file that sees toml++.
#include "dynamics/case_file/entries.h"

#include "base/text.h"

#include <farfield/error.h>

#include <fmt/format.h>

// toml++ states as assertions what a broken file may violate ("[#" does), after which it reports the error
// well. An assertion would end the program, and where NDEBUG is defined Clang is told to assume it: undefined
// behaviour.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace farfield::case_file {
namespace {

std::string place_of(const std::string& file, const toml::source_region& where) {
    return fmt::format("{}:{}:{}", file, where.begin.line, where.begin.column);
}

std::vector<std::string_view> names_in(std::string_view section) {
    std::vector<std::string_view> names;
    for (const auto& key : keys())
        if (key.section == section) names.push_back(key.name);
    return names;
}

// Settings of the machine are not physics: they are options of the command, so that a case means the same
// everywhere.
std::string_view option_instead(std::string_view name) {
    if (name == "threads") return "--threads";
    if (name == "isa") return "--isa";
    if (name == "out" || name == "output") return "--out";
    return {};
}

[[noreturn]] void unknown_key(const std::string& place, std::string_view section, std::string_view name) {
    const auto where = section.empty() ? std::string("at the top level") : fmt::format("in [{}]", section);
    const auto head = fmt::format("{}: unknown key '{}' {}", place, name, where);
    if (const auto option = option_instead(name); !option.empty())
        throw InvalidArgument(fmt::format("{}; it is an option of `farfield run`: {}", head, option));
    const auto known = names_in(section);
    if (nearest_word(name, known).empty())
        for (const auto& key : keys())
            if (key.name == name)
                throw InvalidArgument(fmt::format("{}; it belongs {}", head,
                                                  key.section.empty() ? "at the top, before the first section"
                                                                      : fmt::format("in [{}]", key.section)));
    throw InvalidArgument(head + suggestion(name, known));
}

[[noreturn]] void unknown_section(const std::string& place, std::string_view name) {
    throw InvalidArgument(
        fmt::format("{}: unknown section [{}]{}", place, name, suggestion(name, sections())));
}

bool is_section(std::string_view name) {
    for (auto section : sections())
        if (section == name) return true;
    return false;
}

Value raw_value(const Key& key, const std::string& place, const toml::node& node) {
    if (const auto* flag = node.as_boolean()) return flag->get();
    if (const auto* whole = node.as_integer()) return whole->get();
    if (const auto* real = node.as_floating_point()) return real->get();
    if (const auto* text = node.as_string()) return text->get();
    wrong_type(key, place, node.is_array() ? "an array" : node.is_table() ? "a table" : "a date or time");
}

void add_entry(std::vector<Entry>& entries, const std::string& file, std::string_view section,
               const toml::key& name, const toml::node& node) {
    const auto* key = find_key(section, name.str());
    if (key == nullptr) unknown_key(place_of(file, name.source()), section, name.str());
    auto place = place_of(file, node.source());
    auto value = checked_value(*key, place, raw_value(*key, place, node));
    entries.push_back({key, std::move(value), std::move(place), false});
}

void add_section(std::vector<Entry>& entries, const std::string& file, const toml::key& name,
                 const toml::node& node) {
    const auto* table = node.as_table();
    if (table == nullptr)
        throw InvalidArgument(fmt::format("{}: '{}' is a section: write [{}] on a line of its own",
                                          place_of(file, name.source()), name.str(), name.str()));
    for (const auto& [key, child] : *table) add_entry(entries, file, name.str(), key, child);
}

} // namespace

std::vector<Entry> entries_of(std::string_view text, const std::string& file) {
    toml::table root;
    try {
        root = toml::parse(text);
    } catch (const toml::parse_error& error) {
        throw InvalidArgument(
            fmt::format("{}: not valid TOML: {}", place_of(file, error.source()), error.description()));
    }
    std::vector<Entry> entries;
    for (const auto& [name, node] : root) {
        if (is_section(name.str()))
            add_section(entries, file, name, node);
        else if (node.is_table())
            unknown_section(place_of(file, name.source()), name.str());
        else
            add_entry(entries, file, "", name, node);
    }
    return entries;
}

Entry entry_of_override(const std::string& text) {
    const auto place = "--set " + text;
    const auto equals = text.find('=');
    if (equals == std::string::npos)
        throw InvalidArgument(place + ": expected section.key=value, for example --set force.softening=0.01");
    const auto trimmed = [](std::string_view word) {
        while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
        while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
        return word;
    };
    const auto name = trimmed(std::string_view(text).substr(0, equals));
    const auto dot = name.find('.');
    const auto section = dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
    const auto key_name = dot == std::string_view::npos ? name : name.substr(dot + 1);
    if (!section.empty() && !is_section(section)) unknown_section(place, section);
    const auto* key = find_key(section, key_name);
    if (key == nullptr) unknown_key(place, section, key_name);
    return {key, parse_value(*key, place, trimmed(std::string_view(text).substr(equals + 1))), place, true};
}

} // namespace farfield::case_file
