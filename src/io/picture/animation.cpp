// libpng compresses each frame as a picture of its own; its IDAT chunks become those of the animation.
#include "io/picture/animation.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace farfield::picture {
namespace {

using Bytes = std::vector<std::byte>;

// CRC-32 as PNG defines it (annex D): reflected polynomial 0xEDB88320.
std::uint32_t crc_of(std::span<const std::byte> bytes) {
    std::uint32_t crc = 0xFFFFFFFFU;
    for (const auto byte : bytes) {
        crc ^= static_cast<std::uint32_t>(byte);
        for (int bit = 0; bit < 8; ++bit) crc = (crc & 1U) != 0 ? (crc >> 1U) ^ 0xEDB88320U : crc >> 1U;
    }
    return ~crc;
}

void put(Bytes& out, std::uint32_t value, int size = 4) {
    for (int shift = 8 * (size - 1); shift >= 0; shift -= 8)
        out.push_back(static_cast<std::byte>((value >> static_cast<unsigned>(shift)) & 0xFFU));
}

void put(Bytes& out, int value) { put(out, static_cast<std::uint32_t>(value)); }

std::uint32_t number_at(std::span<const std::byte> bytes) {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i)
        value = value << 8U | static_cast<std::uint32_t>(bytes[static_cast<std::size_t>(i)]);
    return value;
}

void put_chunk(Bytes& out, std::string_view type, std::span<const std::byte> content) {
    put(out, static_cast<std::uint32_t>(content.size()));
    const auto begin = out.size();
    for (const char c : type) out.push_back(static_cast<std::byte>(c));
    out.insert(out.end(), content.begin(), content.end());
    put(out, crc_of(std::span(out).subspan(begin)));
}

constexpr std::array<unsigned char, 8> signature{0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};

// The contents of all chunks of a type in a PNG file, one after the other.
Bytes content_of(std::span<const std::byte> png, std::string_view type) {
    Bytes out;
    for (std::size_t at = signature.size(); at + 12 <= png.size();) {
        const std::size_t length = number_at(png.subspan(at));
        const auto name = png.subspan(at + 4, 4);
        const auto content = png.subspan(at + 8, length);
        if (std::equal(name.begin(), name.end(), type.begin(),
                       [](std::byte a, char b) { return a == static_cast<std::byte>(b); }))
            out.insert(out.end(), content.begin(), content.end());
        at += 12 + length;
    }
    return out;
}

} // namespace

void Animation::add(const Canvas& frame) {
    int left = 0;
    int top = 0;
    int right = frame.width();
    int bottom = frame.height();
    if (!last_.empty()) {
        left = right;
        top = bottom;
        right = bottom = 0;
        for (int y = 0; y < frame.height(); ++y)
            for (int x = 0; x < frame.width(); ++x)
                if (!(frame.at(x, y) == last_.front().at(x, y))) {
                    left = std::min(left, x);
                    right = std::max(right, x + 1);
                    top = std::min(top, y);
                    bottom = std::max(bottom, y + 1);
                }
        if (right == 0) left = top = 0, right = bottom = 1; // an equal frame still takes its time
    }
    const auto png = frame.part(left, top, right - left, bottom - top).png();
    if (last_.empty()) header_ = content_of(png, "IHDR");
    frames_.push_back({left, top, right - left, bottom - top, content_of(png, "IDAT")});
    last_.assign(1, frame);
}

Bytes Animation::bytes() const {
    Bytes out;
    for (const auto byte : signature) out.push_back(static_cast<std::byte>(byte));
    put_chunk(out, "IHDR", header_);
    Bytes control;
    put(control, static_cast<std::uint32_t>(frames_.size()));
    put(control, 0);
    put_chunk(out, "acTL", control);
    std::uint32_t sequence = 0;
    for (const auto& frame : frames_) {
        Bytes place;
        put(place, sequence++);
        for (const int value : {frame.width, frame.height, frame.left, frame.top}) put(place, value);
        put(place, static_cast<std::uint32_t>(milliseconds_), 2);
        put(place, 1000U, 2);
        put(place, 0U, 1); // what was drawn stays
        put(place, 0U, 1); // and is replaced
        put_chunk(out, "fcTL", place);
        if (sequence == 1) {
            put_chunk(out, "IDAT", frame.data);
            continue;
        }
        Bytes data;
        put(data, sequence++);
        data.insert(data.end(), frame.data.begin(), frame.data.end());
        put_chunk(out, "fdAT", data);
    }
    put_chunk(out, "IEND", {});
    return out;
}

} // namespace farfield::picture
