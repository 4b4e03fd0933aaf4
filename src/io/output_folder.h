// The folder that a run writes into.
#pragma once

#include <filesystem>

namespace farfield {

/// Creates the folder if it is missing. @throws InvalidArgument for an empty name, IoError where it cannot be
/// created or written to.
void open_output_folder(const std::filesystem::path& path);

/// What a fresh run says of a folder in which an earlier one has left `sign`. @throws InvalidArgument,
/// always.
[[noreturn]] void refuse_used_folder(const std::filesystem::path& folder, const std::filesystem::path& sign);

} // namespace farfield
