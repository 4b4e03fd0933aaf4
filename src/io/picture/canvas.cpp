// Coverage of a pixel is approximated by how far its centre is inside the stroke or disc: 0 at half a pixel
// outside the edge, 1 at half a pixel inside.
#include "io/picture/canvas.h"

#include "io/atomic_file.h"

#include <farfield/error.h>

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cmath>

namespace farfield::picture {
namespace {

// The nearest pixel border, kept within the picture so that any finite coordinate can be converted.
int pixel(double coordinate, int limit) {
    return static_cast<int>(std::clamp(std::floor(coordinate), 0.0, static_cast<double>(limit)));
}

double coverage(double distance, double radius) { return std::clamp(radius + 0.5 - distance, 0.0, 1.0); }

double distance_to_segment(Point p, Point a, Point b) {
    const double dx = b.x - a.x;
    const double dy = b.y - a.y;
    const double length2 = dx * dx + dy * dy;
    const double along =
        length2 > 0.0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length2, 0.0, 1.0) : 0.0;
    const double ex = p.x - a.x - along * dx;
    const double ey = p.y - a.y - along * dy;
    return std::sqrt(ex * ex + ey * ey);
}

std::uint8_t mix(std::uint8_t below, std::uint8_t above, double opacity) {
    const double value =
        static_cast<double>(below) + (static_cast<double>(above) - static_cast<double>(below)) * opacity;
    return static_cast<std::uint8_t>(std::lround(value));
}

// Half-open box of pixels.
struct Box {
    int left, top, right, bottom;
    [[nodiscard]] bool empty() const { return left >= right || top >= bottom; }
};

} // namespace

Canvas::Canvas(int width, int height, Colour background) : width_(width), height_(height) {
    clip_off();
    rgb_.resize(3 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) set(x, y, background);
}

std::size_t Canvas::offset(int x, int y) const {
    return 3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x));
}

Colour Canvas::at(int x, int y) const {
    const auto* pixel = rgb_.data() + offset(x, y);
    return {pixel[0], pixel[1], pixel[2]};
}

void Canvas::set(int x, int y, Colour colour) {
    if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
    auto* pixel = rgb_.data() + offset(x, y);
    pixel[0] = colour.red;
    pixel[1] = colour.green;
    pixel[2] = colour.blue;
}

void Canvas::clip(const Rectangle& rectangle) {
    clip_left_ = pixel(rectangle.left, width_);
    clip_top_ = pixel(rectangle.top, height_);
    clip_right_ = pixel(rectangle.right, width_);
    clip_bottom_ = pixel(rectangle.bottom, height_);
}

void Canvas::clip_off() {
    clip_left_ = clip_top_ = 0;
    clip_right_ = width_;
    clip_bottom_ = height_;
}

void Canvas::blend(int x, int y, Colour colour, double opacity) {
    auto* pixel = rgb_.data() + offset(x, y);
    pixel[0] = mix(pixel[0], colour.red, opacity);
    pixel[1] = mix(pixel[1], colour.green, opacity);
    pixel[2] = mix(pixel[2], colour.blue, opacity);
}

void Canvas::stroke(std::span<const Polyline> lines, double width, Colour colour, double opacity) {
    const double radius = width / 2;
    const double reach = radius + 1.0;
    const auto box_of = [&](Point a, Point b) {
        return Box{std::max(clip_left_, pixel(std::min(a.x, b.x) - reach, width_)),
                   std::max(clip_top_, pixel(std::min(a.y, b.y) - reach, height_)),
                   std::min(clip_right_, pixel(std::max(a.x, b.x) + reach, width_) + 1),
                   std::min(clip_bottom_, pixel(std::max(a.y, b.y) + reach, height_) + 1)};
    };
    Box all{width_, height_, 0, 0};
    for (const auto& line : lines)
        for (const auto& point : line) {
            const auto box = box_of(point, point);
            all = {std::min(all.left, box.left), std::min(all.top, box.top), std::max(all.right, box.right),
                   std::max(all.bottom, box.bottom)};
        }
    all = {std::max(all.left, clip_left_), std::max(all.top, clip_top_), std::min(all.right, clip_right_),
           std::min(all.bottom, clip_bottom_)};
    if (all.empty()) return;
    const auto columns = static_cast<std::size_t>(all.right - all.left);
    std::vector<float> covered(columns * static_cast<std::size_t>(all.bottom - all.top), 0.0F);
    const auto cell = [&](int x, int y) -> float& {
        return covered[static_cast<std::size_t>(y - all.top) * columns +
                       static_cast<std::size_t>(x - all.left)];
    };
    for (const auto& line : lines)
        for (std::size_t i = 0; i < line.size(); ++i) {
            const auto a = line[i];
            const auto b = line[std::min(i + 1, line.size() - 1)];
            const auto box = box_of(a, b);
            for (int y = box.top; y < box.bottom; ++y)
                for (int x = box.left; x < box.right; ++x) {
                    const Point centre{x + 0.5, y + 0.5};
                    const auto here = static_cast<float>(coverage(distance_to_segment(centre, a, b), radius));
                    cell(x, y) = std::max(cell(x, y), here);
                }
        }
    for (int y = all.top; y < all.bottom; ++y)
        for (int x = all.left; x < all.right; ++x)
            if (cell(x, y) > 0.0F) blend(x, y, colour, opacity * static_cast<double>(cell(x, y)));
}

void Canvas::disc(Point centre, double radius, Colour colour, double opacity) {
    const Polyline point{centre};
    stroke(std::span(&point, 1), 2 * radius, colour, opacity);
}

Canvas Canvas::part(int left, int top, int width, int height) const {
    Canvas out(width, height, {});
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) out.set(x, y, at(left + x, top + y));
    return out;
}

std::vector<std::byte> Canvas::png() const {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(width_);
    image.height = static_cast<png_uint_32>(height_);
    image.format = PNG_FORMAT_RGB;
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    std::vector<std::byte> bytes(size);
    if (png_image_write_to_memory(&image, bytes.data(), &size, 0, rgb_.data(), 0, nullptr) == 0)
        throw InternalError(fmt::format("libpng cannot encode a picture of {}x{} pixels: {}", width_, height_,
                                        static_cast<const char*>(image.message)));
    bytes.resize(size);
    return bytes;
}

void Canvas::write_png(const std::filesystem::path& path) const { write_file_atomically(path, png()); }

} // namespace farfield::picture
