// A picture in memory: RGB pixels, anti-aliased strokes and discs, PNG. Coordinates are in pixels, x to the
// right, y down; pixel (i, j) covers [i, i+1)×[j, j+1). Only + − × ÷ √ are used, so the same calls give the
// same pixels on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace farfield::picture {

struct Colour {
    std::uint8_t red = 0;
    std::uint8_t green = 0;
    std::uint8_t blue = 0;
    friend bool operator==(const Colour&, const Colour&) = default;
};

struct Point {
    double x = 0.0;
    double y = 0.0;
};

/// Corners of a rectangle in pixels.
struct Rectangle {
    double left = 0.0;
    double top = 0.0;
    double right = 0.0;
    double bottom = 0.0;
    [[nodiscard]] double width() const { return right - left; }
    [[nodiscard]] double height() const { return bottom - top; }
};

using Polyline = std::vector<Point>;

class Canvas {
public:
    Canvas(int width, int height, Colour background);

    [[nodiscard]] int width() const { return width_; }
    [[nodiscard]] int height() const { return height_; }
    [[nodiscard]] Colour at(int x, int y) const;
    /// Ignored outside of the picture.
    void set(int x, int y, Colour colour);

    /// Limits strokes and discs to a rectangle; the whole picture by default.
    void clip(const Rectangle& rectangle);
    void clip_off();

    /// Draws lines of a width with round ends; where they overlap, one colour, once.
    void stroke(std::span<const Polyline> lines, double width, Colour colour, double opacity = 1.0);
    void disc(Point centre, double radius, Colour colour, double opacity = 1.0);

    /// The part from (left, top) of a size, which lies within.
    [[nodiscard]] Canvas part(int left, int top, int width, int height) const;

    /// The bytes of a PNG file.
    [[nodiscard]] std::vector<std::byte> png() const;
    /// @throws IoError.
    void write_png(const std::filesystem::path& path) const;

private:
    void blend(int x, int y, Colour colour, double opacity);
    [[nodiscard]] std::size_t offset(int x, int y) const;

    int width_;
    int height_;
    int clip_left_ = 0, clip_top_ = 0, clip_right_ = 0, clip_bottom_ = 0; // half-open
    std::vector<std::uint8_t> rgb_;
};

} // namespace farfield::picture
