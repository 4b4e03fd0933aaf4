#include "io/tipsy.h"

#include "io/file.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

namespace farfield {
namespace {

// Header: double time; int32 bodies, dimensions, gas, dark, stars; and 4 bytes of padding, which a few
// writers leave out. Every record starts with mass, position, velocity.
constexpr std::size_t header_size = 32;
constexpr std::size_t padding = 4;
constexpr std::array<std::int64_t, 3> record_size{48, 36, 44}; // gas, dark, star

class TipsyReader {
public:
    TipsyReader(std::span<const std::byte> bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

    Snapshot read() {
        if (bytes_.empty())
            throw InvalidArgument(fmt::format("{}: the file is empty; Tipsy data are needed", name_));
        if (bytes_.size() < header_size - padding)
            throw IoError(fmt::format("{}: the file is truncated: a Tipsy header has {} bytes, the file {}",
                                      name_, header_size, bytes_.size()));
        read_header();
        Snapshot snapshot;
        snapshot.info.time = time_;
        std::size_t at = data_begin_;
        for (std::size_t kind = 0; kind < record_size.size(); ++kind)
            for (std::int64_t i = 0; i < counts_[kind]; ++i) {
                append(snapshot.bodies, at);
                at += static_cast<std::size_t>(record_size[kind]);
            }
        snapshot.bodies.id.resize(snapshot.bodies.mass.size());
        std::iota(snapshot.bodies.id.begin(), snapshot.bodies.id.end(), std::uint64_t{1});
        return snapshot;
    }

private:
    template <class T>
    [[nodiscard]] T value(std::size_t at) const {
        std::array<std::byte, sizeof(T)> element{};
        std::memcpy(element.data(), bytes_.data() + at, sizeof(T));
        if (swapped_) std::reverse(element.begin(), element.end());
        return std::bit_cast<T>(element);
    }

    void read_header() {
        constexpr std::size_t dimensions_at = 12;
        swapped_ = true;
        if (value<std::int32_t>(dimensions_at) != 3) swapped_ = false;
        if (value<std::int32_t>(dimensions_at) != 3)
            throw InvalidArgument(
                fmt::format("{}: not a Tipsy file of 3 dimensions: the header says {}; use the "
                            "extension of the file's real format",
                            name_, value<std::int32_t>(dimensions_at)));
        time_ = value<double>(0);
        const std::int64_t total = value<std::int32_t>(8);
        std::int64_t data = 0;
        for (std::size_t kind = 0; kind < counts_.size(); ++kind) {
            counts_[kind] = value<std::int32_t>(16 + 4 * kind);
            data += counts_[kind] * record_size[kind];
        }
        const auto [gas, dark, stars] = counts_;
        if (gas < 0 || dark < 0 || stars < 0 || total != gas + dark + stars || total == 0 ||
            !std::isfinite(time_))
            throw InvalidArgument(
                fmt::format("{}: the Tipsy header holds time {}, {} bodies, of them {} gas, {} dark and {} "
                            "stars; counts must be positive and add up",
                            name_, time_, total, gas, dark, stars));
        const auto size = static_cast<std::int64_t>(bytes_.size());
        const auto padded = static_cast<std::int64_t>(header_size) + data;
        const auto unpadded = padded - static_cast<std::int64_t>(padding);
        if (size < padded && size != unpadded)
            throw IoError(
                fmt::format("{}: the file is truncated: {} bodies need {} bytes, the file holds {}; copy or "
                            "write it again",
                            name_, total, padded, size));
        if (size > padded)
            throw InvalidArgument(
                fmt::format("{}: {} bodies need {} bytes, the file holds {}; its header does not "
                            "fit its data",
                            name_, total, padded, size));
        data_begin_ = size == padded ? header_size : header_size - padding;
    }

    void append(Bodies& bodies, std::size_t at) const {
        std::array<double, 7> values{};
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = static_cast<double>(value<float>(at + 4 * i));
            if (!std::isfinite(values[i]))
                throw InvalidArgument(
                    fmt::format("{}: particle {} (counted from 0, gas, dark, stars) holds {}; finite numbers "
                                "are needed: correct or remove it",
                                name_, bodies.mass.size(), values[i]));
        }
        bodies.mass.push_back(values[0]);
        bodies.position.insert(bodies.position.end(), values.begin() + 1, values.begin() + 4);
        bodies.velocity.insert(bodies.velocity.end(), values.begin() + 4, values.end());
    }

    std::span<const std::byte> bytes_;
    std::string name_;
    bool swapped_ = false;
    double time_ = 0.0;
    std::array<std::int64_t, 3> counts_{};
    std::size_t data_begin_ = header_size;
};

} // namespace

Snapshot parse_tipsy(std::span<const std::byte> bytes, const std::string& name) {
    return TipsyReader(bytes, name).read();
}

Snapshot read_tipsy(const std::filesystem::path& path) { return parse_tipsy(read_file(path), path.string()); }

} // namespace farfield
