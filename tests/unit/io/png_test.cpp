// Pictures written here by libpng's own writer, and broken ones.
#include "io/png.h"

#include "io/file.h"
#include "unit/io/io_test.h"

#include <png.h>

#include <cstdint>

using namespace farfield;
using namespace farfield::test;

namespace {

class Png : public IoTest {};

std::vector<std::byte> encoded(int width, int height, png_uint_32 format, const void* pixels) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(width);
    image.height = static_cast<png_uint_32>(height);
    image.format = format;
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    std::vector<std::byte> bytes(size);
    EXPECT_NE(png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels, 0, nullptr), 0);
    bytes.resize(size);
    return bytes;
}

bool any_size(std::int64_t, std::int64_t) { return true; }

} // namespace

TEST_F(Png, GreyPixelsAreTheirValueOver255FromTheTopRow) {
    const std::array<std::uint8_t, 6> pixels{0, 51, 255, 102, 1, 254};
    const auto picture = parse_png(encoded(3, 2, PNG_FORMAT_GRAY, pixels.data()), "a.png", any_size);
    EXPECT_EQ(picture.width, 3);
    EXPECT_EQ(picture.height, 2);
    ASSERT_EQ(picture.values.size(), 6U);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_DOUBLE_EQ(picture.values[i], pixels[i] / 255.0) << i;
    EXPECT_EQ(picture.values[0], 0.0);
    EXPECT_EQ(picture.values[2], 1.0); // exactly: conditions compare with it
}

TEST_F(Png, ColoursBecomeTheirLuminance) {
    const std::array<std::uint8_t, 12> pixels{255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255};
    const auto picture = parse_png(encoded(4, 1, PNG_FORMAT_RGB, pixels.data()), "a.png", any_size);
    ASSERT_EQ(picture.values.size(), 4U);
    EXPECT_NEAR(picture.values[0], 0.2126, 1e-12);
    EXPECT_NEAR(picture.values[1], 0.7152, 1e-12);
    EXPECT_NEAR(picture.values[2], 0.0722, 1e-12);
    EXPECT_EQ(picture.values[3], 1.0);
}

TEST_F(Png, OpaqueAlphaIsFineAndTransparentPixelsAreNamed) {
    std::array<std::uint8_t, 16> pixels{9, 9, 9, 255, 9, 9, 9, 255, 9, 9, 9, 255, 9, 9, 9, 255};
    EXPECT_EQ(parse_png(encoded(2, 2, PNG_FORMAT_RGBA, pixels.data()), "a.png", any_size).values.size(), 4U);
    pixels[11] = 254;
    const auto bytes = encoded(2, 2, PNG_FORMAT_RGBA, pixels.data());
    expect_error<InvalidArgument>([&] { parse_png(bytes, "a.png", any_size); }, "a.png", "column 0 of row 1",
                                  "without transparency");
}

TEST_F(Png, IsNotDecodedWhereTheSizeIsNotWanted) {
    const std::array<std::uint8_t, 2> pixels{};
    const auto bytes = encoded(2, 1, PNG_FORMAT_GRAY, pixels.data());
    const auto picture = parse_png(bytes, "a.png", [](std::int64_t w, std::int64_t h) { return w == h; });
    EXPECT_EQ(picture.width, 2);
    EXPECT_TRUE(picture.values.empty());
}

TEST_F(Png, BrokenBytesAreRefusedAtAnyLength) {
    const std::array<std::uint8_t, 4> pixels{1, 2, 3, 4};
    const auto bytes = encoded(2, 2, PNG_FORMAT_GRAY, pixels.data());
    expect_error<InvalidArgument>([] { parse_png(as_byte_span("no picture"), "b.png", any_size); }, "b.png",
                                  "PNG");
    expect_error<InvalidArgument>([] { parse_png({}, "b.png", any_size); }, "b.png");
    // libpng asks for the pixels alone: what follows them may be missing
    for (std::size_t length = 0; length + 30 < bytes.size(); ++length)
        EXPECT_THROW(parse_png(std::span(bytes).first(length), "b.png", any_size), InvalidArgument) << length;
    expect_error<IoError>([&] { read_png(file("missing.png"), any_size); }, "missing.png");
}
