// read_case: the file, its overrides, defaults that depend on other keys, and paths.
#include "dynamics/case_file/case_file.h"

#include "dynamics/case_file/checks.h"
#include "dynamics/case_file/entries.h"

#include <farfield/error.h>
#include <farfield/options.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace farfield {
namespace {

using case_file::Entry;

// A later entry of the same key replaces the earlier one.
std::vector<Entry> merged(std::vector<Entry> entries, const std::vector<std::string>& overrides) {
    for (const auto& text : overrides) {
        auto entry = case_file::entry_of_override(text);
        const auto same = std::find_if(entries.begin(), entries.end(),
                                       [&](const Entry& other) { return other.key == entry.key; });
        if (same != entries.end())
            *same = std::move(entry);
        else
            entries.push_back(std::move(entry));
    }
    return entries;
}

// A path written in the file starts at the file's folder, one of the command line at the current folder.
void resolve_path(Case& simulation_case, const std::vector<Entry>& entries,
                  const std::filesystem::path& file) {
    const auto given = std::find_if(entries.begin(), entries.end(), [](const Entry& entry) {
        return entry.key->type == case_file::KeyType::path;
    });
    if (given == entries.end()) return;
    auto& path = simulation_case.initial.path;
    if (path.is_relative() && !given->from_command_line) path = file.parent_path() / path;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
        throw InvalidArgument(
            fmt::format("{}: {} = \"{}\": there is no file {}; a relative path starts at {}", given->place,
                        case_file::full_name(*given->key), std::get<std::string>(given->value), path.string(),
                        given->from_command_line ? "the current folder" : "the folder of the case file"));
}

void set_dependent_defaults(Case& simulation_case, const std::vector<Entry>& entries,
                            const std::filesystem::path& file) {
    const auto given = [&](std::string_view section, std::string_view name) {
        return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
            return entry.key->section == section && entry.key->name == name;
        });
    };
    if (!given("", "name")) simulation_case.name = file.stem().string();
    const bool vortices = facts_of(simulation_case.force.kernel).moves_vortices;
    if (vortices) simulation_case.time.integrator = Integrator::rk4;
    if (!given("initial", "box")) simulation_case.initial.box = simulation_case.force.period;
    if (!given("force", "G") && !vortices) simulation_case.force.G = natural_G(simulation_case.initial);
}

} // namespace

Case parse_case(std::string_view text, const std::filesystem::path& file,
                const std::vector<std::string>& overrides) {
    const auto entries = merged(case_file::entries_of(text, file.string()), overrides);
    Case simulation_case;
    for (const auto& entry : entries) entry.key->assign(simulation_case, entry.value);
    case_file::check_together(simulation_case, entries, file.string());
    resolve_path(simulation_case, entries, file);
    set_dependent_defaults(simulation_case, entries, file);
    return simulation_case;
}

Case read_case(const std::filesystem::path& path, const std::vector<std::string>& overrides) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        throw InvalidArgument(path.string() + " is a folder; give the case file (TOML) in it");
    std::ifstream stream(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    if (!stream.is_open() || stream.bad())
        throw IoError(fmt::format("cannot read {}: {}; give the path of a case file (TOML)", path.string(),
                                  std::strerror(errno)));
    return parse_case(text, path, overrides);
}

} // namespace farfield
