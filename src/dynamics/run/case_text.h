// A case as text: the file case.toml that a run leaves beside its results, and the comparison that keeps a
// checkpoint from being continued by another case.
#pragma once

#include <farfield/run.h>

#include <string>
#include <string_view>
#include <vector>

namespace farfield {

struct CaseEntry {
    std::string_view section; ///< "" for the top level
    std::string_view key;
    std::string value;    ///< as TOML writes it
    bool decides = false; ///< a different value gives different snapshots or diagnostics
};

/// The keys that the case uses, sections together.
std::vector<CaseEntry> case_entries(const Case& simulation_case);

/// All entries as a case file that `read_case` reads back to the same case.
std::string case_toml(const Case& simulation_case);

/// The entries that decide the results, one "section.key = value" a line. Not in it: time.end (a run may be
/// continued further), threads, ISA, pictures and checkpoint_every.
std::string deciding_text(const Case& simulation_case);

/// What differs first between two such texts, such as "force.softening was 0.01 and is 0.02 now"; empty if
/// nothing does.
std::string first_difference(std::string_view before, std::string_view now);

} // namespace farfield
