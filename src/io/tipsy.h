// Tipsy files (https://github.com/N-BodyShop/tipsy/wiki/File-Format): a header of time and counts, then gas,
// dark matter and stars as records of 32-bit floats.
#pragma once

#include "io/snapshot.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace farfield {

/// Reads the standard (big-endian) layout and the native little-endian one, told apart by the header. Gas,
/// dark and star particles are concatenated in this order and numbered from 1; of each, position, velocity
/// and mass are kept.
/// @throws InvalidArgument for content that is not allowed (names the particle), IoError for a file that
/// cannot
///         be read or ends early.
Snapshot read_tipsy(const std::filesystem::path& path);
Snapshot parse_tipsy(std::span<const std::byte> bytes, const std::string& name);

} // namespace farfield
