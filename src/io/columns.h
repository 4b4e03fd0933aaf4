// What the readers of bodies and points share: named columns, finite values, file name extensions.
#pragma once

#include "io/csv.h"
#include "io/npy.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace farfield {

/// The extension in lower case with its dot. @throws InvalidArgument that lists `known` for any other.
std::string known_extension(const std::filesystem::path& path, std::span<const std::string_view> known);

/// The columns of those names as a row-major matrix. @throws InvalidArgument naming the file and the column
/// where a name of `wanted` is missing, and file, line and column where a value is not finite.
std::vector<double> take_columns(const Table& table, std::span<const std::string_view> wanted,
                                 const std::string& file);

/// Checks that an array is N×`columns` with N ≥ 1 and all finite. `what` says what the columns are.
/// @throws InvalidArgument naming file, row (from 0) and column (from 0).
void require_matrix(const NpyArray& array, std::int64_t columns, std::string_view what,
                    const std::string& file);

} // namespace farfield
