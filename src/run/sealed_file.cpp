#include "run/sealed_file.h"

#include "io/atomic_file.h"
#include "io/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <type_traits>

namespace farfield {
namespace {

namespace fs = std::filesystem;

// The last bytes of a file, behind those that HDF5 reads.
struct Seal {
    std::array<char, 8> mark{'F', 'F', 'S', 'E', 'A', 'L', '0', '1'};
    std::uint64_t checksum = 0;
    friend bool operator==(const Seal&, const Seal&) = default;
};
static_assert(std::has_unique_object_representations_v<Seal>);

// The checksum takes the bytes in words, each mixed in by multiplication and shift (as in splitmix64). It
// finds damage, not malice.
Seal seal_of(std::span<const std::byte> bytes) {
    Seal seal;
    std::uint64_t value = bytes.size();
    while (!bytes.empty()) {
        std::uint64_t word = 0;
        const auto taken = std::min(sizeof word, bytes.size());
        std::memcpy(&word, bytes.data(), taken);
        value = (value ^ word) * 0x9E3779B97F4A7C15U;
        value ^= value >> 29U;
        bytes = bytes.subspan(taken);
    }
    seal.checksum = value;
    return seal;
}

void rename_or_throw(const fs::path& from, const fs::path& to) {
    std::error_code error;
    fs::rename(from, to, error);
    if (error)
        throw IoError(fmt::format("cannot rename '{}' to '{}': {}; check the folder's permissions",
                                  from.string(), to.string(), error.message()));
}

} // namespace

void write_sealed(const fs::path& path, std::span<const std::byte> content) {
    const auto seal = seal_of(content);
    const std::array<std::span<const std::byte>, 2> pieces{content, std::as_bytes(std::span(&seal, 1))};
    write_pieces_atomically(path, pieces);
}

void write_sealed(const Generations& files, std::span<const std::byte> content) {
    // A kill between the two leaves the previous one alone, and that is enough to go on.
    if (fs::exists(files.newest)) rename_or_throw(files.newest, files.previous);
    write_sealed(files.newest, content);
}

std::vector<std::byte> read_sealed(const fs::path& path) {
    auto bytes = read_file(path);
    if (bytes.size() >= sizeof(Seal)) {
        const auto content = std::span(bytes).first(bytes.size() - sizeof(Seal));
        Seal seal;
        std::memcpy(&seal, bytes.data() + content.size(), sizeof seal);
        if (seal == seal_of(content)) {
            bytes.resize(content.size());
            return bytes;
        }
    }
    throw IoError(fmt::format("{}: the checksum at its end does not fit the content; the file is damaged or "
                              "incomplete",
                              path.string()));
}

} // namespace farfield
