// Files that are either complete or absent: written under a temporary name, synced, renamed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace farfield {

/// Writes `path` so that a crash or a full disk leaves the earlier file intact: everything goes to
/// "<path>.part" in the same directory, is synced, renamed over `path`, and the directory is synced. A
/// symbolic link is followed; what is no regular file (a pipe, /dev/stdout) is written in place.
/// @throws IoError naming the path, the system's reason and a remedy; the .part file is then removed.
void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// The same for content in several pieces, written one after the other.
void write_pieces_atomically(const std::filesystem::path& path,
                             std::span<const std::span<const std::byte>> pieces);

} // namespace farfield
