// PNG pictures as numbers, through libpng's simplified interface, which needs no setjmp.
#include "io/png.h"

#include "io/file.h"

#include <farfield/error.h>

#include <fmt/format.h>
#include <png.h>

namespace farfield {
namespace {

// Frees what libpng holds.
class Image {
public:
    Image() { image_.version = PNG_IMAGE_VERSION; }
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;
    ~Image() { png_image_free(&image_); }
    png_image* get() { return &image_; }
    png_image* operator->() { return &image_; }

private:
    png_image image_{};
};

[[noreturn]] void fail(std::string_view name, const char* reason) {
    throw InvalidArgument(
        fmt::format("{}: cannot be read as a PNG picture ({}); save it again as PNG", name, reason));
}

double grey(const png_byte* rgba) {
    return (2126 * rgba[0] + 7152 * rgba[1] + 722 * rgba[2]) / 10000.0 / 255.0;
}

} // namespace

GreyPicture parse_png(std::span<const std::byte> bytes, std::string_view name,
                      const PictureSizeCheck& wanted) {
    Image image;
    if (png_image_begin_read_from_memory(image.get(), bytes.data(), bytes.size()) == 0)
        fail(name, image->message);
    GreyPicture out{image->width, image->height, {}};
    if (!wanted(out.width, out.height)) return out;
    image->format = PNG_FORMAT_RGBA;
    image->flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
    std::vector<png_byte> pixels(PNG_IMAGE_SIZE(*image.get()));
    if (png_image_finish_read(image.get(), nullptr, pixels.data(), 0, nullptr) == 0)
        fail(name, image->message);
    const auto count = static_cast<std::size_t>(out.width) * static_cast<std::size_t>(out.height);
    out.values.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        if (pixels[4 * i + 3] != 255)
            throw InvalidArgument(fmt::format(
                "{}: the pixel in column {} of row {} (from the top left, from 0) is transparent and so "
                "has no grey; save the picture without transparency",
                name, i % static_cast<std::size_t>(out.width), i / static_cast<std::size_t>(out.width)));
        out.values[i] = grey(&pixels[4 * i]);
    }
    return out;
}

GreyPicture read_png(const std::filesystem::path& path, const PictureSizeCheck& wanted) {
    return parse_png(read_file(path), path.string(), wanted);
}

} // namespace farfield
