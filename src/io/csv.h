// Tables of numbers as comma-separated text: a header line of names, then one row of numbers a line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace farfield {

struct Table {
    std::vector<std::string> names;
    std::vector<std::vector<double>> columns; ///< one a name, all of the same length
    std::vector<std::int64_t> lines{};  ///< of each row in the file it was read from, from 1; else empty
    std::vector<std::string> ignored{}; ///< names of columns that were not asked for

    [[nodiscard]] std::int64_t rows() const {
        return columns.empty() ? 0 : static_cast<std::int64_t>(columns.front().size());
    }
    /// The column of that name, or null.
    [[nodiscard]] const std::vector<double>* find(std::string_view name) const;
};

/// Reads a table. Blank lines and lines that start with '#' are skipped; CRLF, a missing final newline,
/// blanks around values and a byte-order mark are fine; "nan" and "inf" are numbers here. Values are
/// separated by commas, or by semicolons where the header has them and no comma. `name` is the file's name in
/// messages. `wanted`: the columns to read, whatever others hold, their names in capitals or not; empty: all
/// columns.
/// @throws InvalidArgument naming line and column: no header, a repeated name, a row of another length, a
///         value that is not a number.
Table parse_csv(std::string_view text, std::string_view name, std::span<const std::string_view> wanted = {});
Table read_csv(const std::filesystem::path& path, std::span<const std::string_view> wanted = {});

/// The text of a table: the shortest decimals that read back to the same doubles, lines ended by '\n'; "nan"
/// has no sign.
/// @throws InvalidArgument where names and columns disagree in number or columns in length.
std::string format_csv(const Table& table);

/// One row of it, without the newline.
std::string format_csv_row(std::span<const double> values);

} // namespace farfield
