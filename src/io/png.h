// PNG pictures as numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace farfield {

/// A picture in grey: 0 is black, 1 white. Row 0 is the uppermost, as in the file.
struct GreyPicture {
    std::int64_t width = 0;
    std::int64_t height = 0;
    std::vector<double> values; ///< height × width, row by row
};

/// Decides by width and height whether a picture is decoded at all: nothing of its size is allocated before.
using PictureSizeCheck = std::function<bool(std::int64_t width, std::int64_t height)>;

/// Pixels of 8 bits a channel as a screen shows them (sRGB; deeper ones are rounded to 8 bits), colours as
/// the grey (2126 R + 7152 G + 722 B)/10000 of their channels, divided by 255. Without values where `wanted`
/// returns false. `name` is the file's name in messages.
/// @throws InvalidArgument for bytes that are no PNG, and for pixels that are not opaque; IoError where the
/// file
///         cannot be read.
GreyPicture parse_png(std::span<const std::byte> bytes, std::string_view name,
                      const PictureSizeCheck& wanted);
GreyPicture read_png(const std::filesystem::path& path, const PictureSizeCheck& wanted);

} // namespace farfield
