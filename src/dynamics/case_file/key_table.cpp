// The table of keys as Markdown: for `farfield run --list-keys` and docs/guide/case-file.md.
#include "dynamics/case_file/values.h"

#include <farfield/run.h>

#include <fmt/format.h>

namespace farfield {
namespace {

using namespace case_file;

std::string allowed(const Key& key) {
    switch (key.type) {
    case KeyType::boolean:
        return "`true`, `false`";
    case KeyType::text:
        return "text";
    case KeyType::unit:
        return "unit";
    case KeyType::path:
        return "path";
    case KeyType::lengths:
        return "length, or array of three";
    case KeyType::device:
        return "`\"auto\"`, `\"cpu\"`, `\"cuda\"`, `\"cuda:1\"`, `\"cuda:0,1\"`";
    case KeyType::choice: {
        std::string out;
        for (auto name : key.choices()) out += fmt::format("{}`\"{}\"`", out.empty() ? "" : ", ", name);
        return out;
    }
    default:
        break;
    }
    const auto range = describe(key.range);
    return fmt::format("{}{}{}", key.type == KeyType::integer ? "whole number" : "number",
                       range.empty() ? "" : " ", range);
}

std::string kinds_of(const Key& key) {
    std::string out;
    for (auto name : names_of<InitialKind>())
        if ((key.kinds & bit(from_name<InitialKind>(name).value())) != 0)
            out += fmt::format("{}`{}`", out.empty() ? "" : ", ", name);
    return out.empty() ? "all" : out;
}

void add_rows(std::string& out, std::string_view section, bool with_kinds) {
    out += with_kinds ? "| key | allowed | default | unit | used by | meaning |\n|---|---|---|---|---|---|\n"
                      : "| key | allowed | default | unit | meaning |\n|---|---|---|---|---|\n";
    for (const auto& key : keys()) {
        if (key.section != section) continue;
        const bool must = key.required || key.required_by != 0;
        const bool literal = !must && !key.section.empty() && key.type != KeyType::unit &&
                             key.type != KeyType::lengths; // whose defaults are words
        const auto value = must ? "**required**" : key.default_text;
        out += fmt::format("| `{}` | {} | {} | {} | {}{} |\n", key.name, allowed(key),
                           literal ? "`" + value + "`" : value, key.unit,
                           with_kinds ? kinds_of(key) + " | " : "", key.doc);
    }
}

} // namespace

std::vector<std::string> case_keys() {
    std::vector<std::string> out;
    for (const auto& key : keys()) out.push_back(full_name(key));
    return out;
}

std::string case_key_table() {
    std::string out;
    add_rows(out, "", false);
    for (auto section : sections()) {
        out += fmt::format("\n### `[{}]`\n\n", section);
        add_rows(out, section, section == "initial");
    }
    return out;
}

} // namespace farfield
