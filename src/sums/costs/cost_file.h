// The user's cost table: a file of lines "name = value" that `farfield tune` writes, and the table of this
// process, which is the shipped one with what stands in that file.
#pragma once

#include "sums/costs/cost_table.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace farfield {

/// A file's content: the line "format = 1", then `to_text`; `comment` (lines without '#') goes on top.
std::string cost_file_text(const CostTable& table, std::string_view comment = {});

/// Reads such a text. Blank lines and lines that begin with '#' mean nothing. Every name must be one of the
/// shipped table's, or of another model of GPU.
/// @throws InvalidArgument naming `label`, the line, what is wrong and the remedy.
CostTable parse_cost_file(std::string_view text, std::string_view label);

/// @throws IoError where the file cannot be read, InvalidArgument as above.
CostTable read_cost_file(const std::filesystem::path& path);

/// $FARFIELD_COST_TABLE, or farfield/cost_table.toml in $XDG_CONFIG_HOME or in $HOME/.config; empty where
/// none of the three is set.
std::filesystem::path user_cost_file();

struct CostTableInUse {
    CostTable table;
    std::string hash;
    std::filesystem::path file; ///< the user's; empty: the table is the shipped one
};

/// The shipped table with the user's file over it, if there is one.
/// @throws InvalidArgument where $FARFIELD_COST_TABLE names no file, and as `read_cost_file`.
CostTableInUse load_cost_table();

/// The same, loaded once a process: later changes of the file mean nothing to this process.
const CostTableInUse& cost_table_in_use();

/// From now on this process computes by the shipped table, whatever the user's file is: for measurements,
/// which are to be the same with any. Only before the first call of `cost_table_in_use`.
void stay_with_shipped_costs();

} // namespace farfield
