// NumPy's .npy files (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html), versions 1
// to 3.
#pragma once

#include <farfield/array.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace farfield {

/// An array of numbers of any rank, row-major.
struct NpyArray {
    DType dtype = DType::float64;    ///< float32 where the file holds float32; float64 otherwise
    std::vector<std::int64_t> shape; ///< as in the file; empty for a single number
    std::vector<double> values;      ///< row-major; integers are converted (exact below 2^53)
};

/// Reads float32, float64 and integer arrays of either byte order. `name` is the file's name in messages.
/// @throws InvalidArgument for content that is not allowed: not a .npy file, other element types (objects,
///         complex, records, text), Fortran order; IoError where the data end early.
NpyArray parse_npy(std::span<const std::byte> bytes, std::string_view name);
NpyArray read_npy(const std::filesystem::path& path);

/// Writes version 1.0, little-endian, byte for byte as numpy.save does; atomically.
/// @throws InvalidArgument where `values` does not fill `shape`; IoError.
void write_npy(const std::filesystem::path& path, std::span<const double> values,
               const std::vector<std::int64_t>& shape, DType dtype = DType::float64);

/// The header alone: magic, version, length and the padded dictionary.
std::string npy_header(const std::vector<std::int64_t>& shape, DType dtype);

} // namespace farfield
