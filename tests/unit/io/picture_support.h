// What the tests of pictures share: decoding, clouds of bodies, lightness.
#pragma once

#include "io/picture/canvas.h"
#include "unit/io/io_test.h"

#include <farfield/simulation.h>

#include <png.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <random>
#include <vector>

namespace farfield::test {

/// A decoded PNG, RGB.
struct Decoded {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> rgb;
    [[nodiscard]] picture::Colour at(int x, int y) const {
        const auto* pixel = rgb.data() + 3 * (y * width + x);
        return {pixel[0], pixel[1], pixel[2]};
    }
};

inline Decoded decode(const std::filesystem::path& path) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    EXPECT_NE(png_image_begin_read_from_file(&image, path.c_str()), 0) << image.message;
    image.format = PNG_FORMAT_RGB;
    Decoded decoded{static_cast<int>(image.width), static_cast<int>(image.height), {}};
    decoded.rgb.resize(PNG_IMAGE_SIZE(image));
    EXPECT_NE(png_image_finish_read(&image, nullptr, decoded.rgb.data(), 0, nullptr), 0) << image.message;
    return decoded;
}

inline Bodies cloud(std::size_t n, double spread, double offset = 0.0) {
    std::mt19937_64 random(7); // any fixed seed: the engine's sequence is given by the C++ standard
    Bodies bodies;
    const auto uniform = [&] { return static_cast<double>(random() >> 11U) * 0x1p-53; };
    for (std::size_t i = 0; i < n; ++i) {
        for (int axis = 0; axis < 3; ++axis)
            bodies.position.push_back(offset + spread * (uniform() + uniform() + uniform() - 1.5));
        bodies.mass.push_back(1.0 / static_cast<double>(n));
        bodies.id.push_back(i + 1);
    }
    bodies.velocity.resize(3 * n);
    return bodies;
}

/// Lightness in Oklab (Ottosson 2020), computed as its definition says.
inline double lightness(picture::Colour colour) {
    const auto linear = [](std::uint8_t byte) {
        const double v = byte / 255.0;
        return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
    };
    const double r = linear(colour.red);
    const double g = linear(colour.green);
    const double b = linear(colour.blue);
    const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    return 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s;
}

} // namespace farfield::test
