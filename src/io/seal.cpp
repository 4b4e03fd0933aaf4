// Seals of files.
#include "io/seal.h"

#include "io/atomic_file.h"
#include "io/messages.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

namespace farfield {
namespace {

// Takes the bytes in words, each mixed in by multiplication and shift (as in splitmix64). All pieces but the
// last are whole words.
class Mixer {
public:
    explicit Mixer(std::uint64_t size) : value_(size) {}
    void add(std::span<const std::byte> bytes) {
        while (!bytes.empty()) {
            std::uint64_t word = 0;
            const auto taken = std::min(sizeof word, bytes.size());
            std::memcpy(&word, bytes.data(), taken);
            value_ = (value_ ^ word) * 0x9E3779B97F4A7C15U;
            value_ ^= value_ >> 29U;
            bytes = bytes.subspan(taken);
        }
    }
    [[nodiscard]] Seal seal() const { return {.checksum = value_}; }

private:
    std::uint64_t value_;
};

Seal stored_seal(std::span<const std::byte> bytes) {
    Seal seal;
    std::memcpy(&seal, bytes.data() + bytes.size() - sizeof seal, sizeof seal);
    return seal;
}

} // namespace

Seal seal_of(std::span<const std::byte> content) {
    Mixer mixer(content.size());
    mixer.add(content);
    return mixer.seal();
}

bool is_sealed(std::span<const std::byte> bytes) {
    return bytes.size() >= sizeof(Seal) && stored_seal(bytes).mark == Seal{}.mark;
}

bool is_cut_off(std::span<const std::byte> bytes) {
    constexpr std::size_t recognised = 4;
    const Seal seal;
    for (auto part = recognised; part < sizeof seal && part <= bytes.size(); ++part)
        if (std::memcmp(bytes.data() + bytes.size() - part, seal.mark.data(),
                        std::min(part, seal.mark.size())) == 0)
            return true;
    return false;
}

bool seal_fits(std::span<const std::byte> bytes) {
    return bytes.size() >= sizeof(Seal) &&
           stored_seal(bytes) == seal_of(bytes.first(bytes.size() - sizeof(Seal)));
}

void write_with_seal(const std::filesystem::path& path, std::span<const std::byte> content) {
    const auto seal = seal_of(content);
    const std::array<std::span<const std::byte>, 2> pieces{content, std::as_bytes(std::span(&seal, 1))};
    write_pieces_atomically(path, pieces);
}

void require_seal_fits(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) throw IoError(system_failure("open", path, errno));
    const auto size = static_cast<std::streamoff>(file.tellg());
    Seal seal;
    const auto content = size - static_cast<std::streamoff>(sizeof seal);
    if (content < 0) return;
    file.seekg(content);
    file.read(reinterpret_cast<char*>(&seal), sizeof seal);
    if (!file) throw IoError(system_failure("read", path, errno));
    if (is_cut_off(std::as_bytes(std::span(&seal, 1))))
        throw IoError(fmt::format(
            "{}: the file is truncated: the checksum at its end is incomplete; copy or write it again",
            path.string()));
    if (seal.mark != Seal{}.mark) return;
    file.seekg(0);
    Mixer mixer(static_cast<std::uint64_t>(content));
    std::vector<std::byte> piece(std::size_t{1} << 20U);
    for (auto left = content; left > 0 && file;) {
        const auto now = std::min<std::streamoff>(left, static_cast<std::streamoff>(piece.size()));
        file.read(reinterpret_cast<char*>(piece.data()), now);
        mixer.add(std::span(piece).first(static_cast<std::size_t>(now)));
        left -= now;
    }
    if (!file) throw IoError(system_failure("read", path, errno));
    if (mixer.seal() != seal)
        throw IoError(fmt::format(
            "{}: the checksum at its end does not fit the content; the file is damaged: copy or write "
            "it again",
            path.string()));
}

} // namespace farfield
