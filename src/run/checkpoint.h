// What every run asks of a checkpoint before it goes on from it: the layout of the file, the version of
// Farfield, and that it is of the same case or program.
#pragma once

#include "io/hdf5.h"

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace farfield {

/// A checkpoint file whose seal fits. @throws IoError where it cannot be read or is damaged.
hdf5::File open_checkpoint(const std::filesystem::path& path);

/// @throws InvalidArgument where the layout of the file is not the one that this version reads.
void require_format(const std::filesystem::path& file, std::uint64_t found, std::uint64_t expected);

/// Another version may round otherwise. @throws InvalidArgument where `written_by` is another version;
/// @param remedy besides going on with that version.
void require_this_version(const std::filesystem::path& folder, std::string_view written_by,
                          std::string_view remedy);

/// @param what "case" or "program". @param kept_as the file in `folder` that holds the earlier one.
/// @param difference what differs first; empty: nothing does. @throws InvalidArgument unless it is empty.
void require_same(std::string_view what, const std::filesystem::path& folder, std::string_view difference,
                  std::string_view kept_as);

} // namespace farfield
