// A checksum behind the content of a file, where HDF5 does not look: of checkpoints and snapshots.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <type_traits>

namespace farfield {

/// The last bytes of a sealed file.
struct Seal {
    std::array<char, 8> mark{'F', 'F', 'S', 'E', 'A', 'L', '0', '1'};
    std::uint64_t checksum = 0;
    friend bool operator==(const Seal&, const Seal&) = default;
};
static_assert(std::has_unique_object_representations_v<Seal>);

/// The seal of these bytes. It finds damage, not malice.
Seal seal_of(std::span<const std::byte> content);

/// Whether the bytes end in a seal's mark.
bool is_sealed(std::span<const std::byte> bytes);

/// Whether the bytes end in the first part of a seal (at least four bytes): the file was cut off.
bool is_cut_off(std::span<const std::byte> bytes);

/// Whether the bytes end in the seal of what stands before it.
bool seal_fits(std::span<const std::byte> bytes);

/// Writes the content and its seal atomically. @throws IoError.
void write_with_seal(const std::filesystem::path& path, std::span<const std::byte> content);

/// For a file that may have a seal: what another program wrote or changed has none. @throws IoError where it
/// has one that does not fit, or the file cannot be read.
void require_seal_fits(const std::filesystem::path& path);

} // namespace farfield
