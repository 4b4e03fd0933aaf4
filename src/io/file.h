// Reading whole files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace farfield {

/// The bytes of a file (also of a pipe or a device), to its end, or to `most` bytes.
/// @throws IoError naming the path, the system's reason and a remedy.
std::vector<std::byte> read_file(const std::filesystem::path& path,
                                 std::size_t most = std::numeric_limits<std::size_t>::max());

/// The same bytes seen as text.
inline std::string_view as_text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Text seen as bytes.
inline std::span<const std::byte> as_byte_span(std::string_view text) {
    return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

} // namespace farfield
