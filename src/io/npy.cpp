// NumPy's .npy files. Nothing is allocated before the declared shape is known to fit the bytes that are
// there.
#include "io/npy.h"

#include "base/text.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "io/messages.h"
#include "io/npy_header.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

namespace farfield {
namespace {

static_assert(std::endian::native == std::endian::little, "files are written in the machine's byte order");

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t alignment = 64; // of the data, as NumPy aligns them

struct ElementType {
    char kind = 'f';
    std::size_t size = 8;
    bool swapped = false;
};

[[noreturn]] void refuse_type(std::string_view descr, std::string_view what, std::string_view remedy,
                              std::string_view name) {
    throw InvalidArgument(
        fmt::format("{}: elements of type {} ({}) cannot be read; allowed are float32, float64 and "
                    "integers: {}",
                    name, printable(descr), what, remedy));
}

ElementType element_type(std::string_view descr, std::string_view name) {
    constexpr std::string_view convert = "convert with array.astype('float64') before numpy.save";
    if (descr.starts_with('[') || descr.find('V') != std::string_view::npos)
        refuse_type(descr, "records", "save one plain array, one column a quantity", name);
    if (descr.find('O') != std::string_view::npos) refuse_type(descr, "Python objects", convert, name);
    if (descr.size() < 2) refuse_type(descr, "unknown", convert, name);
    ElementType type;
    std::string_view rest = descr;
    if (rest[0] == '<' || rest[0] == '>' || rest[0] == '|' || rest[0] == '=') {
        type.swapped = rest[0] == '>';
        rest.remove_prefix(1);
    }
    type.kind = rest[0];
    rest.remove_prefix(1);
    if (type.kind == 'c') refuse_type(descr, "complex", "save real and imaginary parts as two columns", name);
    const bool is_float = type.kind == 'f' && (rest == "4" || rest == "8");
    const bool is_integer =
        (type.kind == 'i' || type.kind == 'u') && (rest == "1" || rest == "2" || rest == "4" || rest == "8");
    if (!is_float && !is_integer) refuse_type(descr, "no supported number", convert, name);
    type.size = static_cast<std::size_t>(rest[0] - '0');
    return type;
}

template <class T>
std::vector<double> convert(std::span<const std::byte> data, bool swapped) {
    std::vector<double> values(data.size() / sizeof(T));
    std::array<std::byte, sizeof(T)> element{};
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::memcpy(element.data(), data.data() + i * sizeof(T), sizeof(T));
        if (swapped) std::reverse(element.begin(), element.end());
        values[i] = static_cast<double>(std::bit_cast<T>(element));
    }
    return values;
}

std::vector<double> convert_values(std::span<const std::byte> data, const ElementType& type) {
    if (type.kind == 'f')
        return type.size == 4 ? convert<float>(data, type.swapped) : convert<double>(data, type.swapped);
    const bool is_signed = type.kind == 'i';
    switch (type.size) {
    case 1:
        return is_signed ? convert<std::int8_t>(data, false) : convert<std::uint8_t>(data, false);
    case 2:
        return is_signed ? convert<std::int16_t>(data, type.swapped)
                         : convert<std::uint16_t>(data, type.swapped);
    case 4:
        return is_signed ? convert<std::int32_t>(data, type.swapped)
                         : convert<std::uint32_t>(data, type.swapped);
    default:
        return is_signed ? convert<std::int64_t>(data, type.swapped)
                         : convert<std::uint64_t>(data, type.swapped);
    }
}

// Little-endian length of 2 (version 1) or 4 bytes; returns the header's text and drops it from `bytes`.
std::string_view take_header(std::span<const std::byte>& bytes, std::string_view name) {
    if (bytes.empty())
        throw InvalidArgument(fmt::format("{}: the file is empty; a .npy array is needed", name));
    if (!as_text(bytes).starts_with(magic))
        throw InvalidArgument(
            fmt::format("{}: not a .npy file (it starts with {}); save the array with numpy.save, "
                        "or use the extension of its real format",
                        name, printable(as_text(bytes).substr(0, magic.size()))));
    const auto byte = [&](std::size_t i) {
        return i < bytes.size() ? std::to_integer<std::size_t>(bytes[i]) : 0;
    };
    const auto major = byte(magic.size());
    if (bytes.size() > magic.size() && (major < 1 || major > 3))
        throw InvalidArgument(
            fmt::format("{}: .npy version {} is not known; versions 1 to 3 are", name, major));
    const std::size_t begin = magic.size() + 2 + (major == 1 ? 2 : 4);
    std::size_t length = byte(8) | byte(9) << 8U;
    if (major > 1) length |= byte(10) << 16U | byte(11) << 24U;
    if (bytes.size() < begin + length)
        throw IoError(
            fmt::format("{}: the file is truncated: its header needs {} bytes, the file holds {}; copy or "
                        "save it again",
                        name, begin + length, bytes.size()));
    const auto header = as_text(bytes).substr(begin, length);
    bytes = bytes.subspan(begin + length);
    return header;
}

std::string tuple_text(const std::vector<std::int64_t>& shape) {
    return shape.size() == 1 ? fmt::format("({},)", shape[0]) : fmt::format("({})", joined(shape, ", "));
}

// Bytes of an array; the largest value there is where the product overflows.
std::uint64_t bytes_of_shape(const std::vector<std::int64_t>& shape, std::size_t element_size) {
    std::uint64_t product = element_size;
    for (auto extent : shape)
        if (extent == 0) return 0;
    for (auto extent : shape)
        if (__builtin_mul_overflow(product, static_cast<std::uint64_t>(extent), &product))
            return std::numeric_limits<std::uint64_t>::max();
    return product;
}

// From Fortran's order, where the first index runs fastest.
std::vector<double> row_major(const std::vector<double>& values, const std::vector<std::int64_t>& shape) {
    if (shape.size() < 2 || values.empty()) return values;
    std::vector<double> out(values.size());
    std::vector<std::int64_t> index(shape.size(), 0);
    for (const double value : values) {
        std::int64_t place = 0;
        for (std::size_t axis = 0; axis < shape.size(); ++axis) place = place * shape[axis] + index[axis];
        out[static_cast<std::size_t>(place)] = value;
        for (std::size_t axis = 0; axis < shape.size() && ++index[axis] == shape[axis]; ++axis)
            index[axis] = 0;
    }
    return out;
}

} // namespace

NpyArray parse_npy(std::span<const std::byte> bytes, std::string_view name) {
    auto header = parse_npy_header(take_header(bytes, name), name);
    const auto type = element_type(header.descr, name);
    const auto needed = bytes_of_shape(header.shape, type.size);
    if (bytes.size() < needed)
        throw IoError(
            fmt::format("{}: the file is truncated: shape {} of '{}' needs {} bytes of data, the file holds "
                        "{}; copy or save it again",
                        name, tuple_text(header.shape), header.descr, needed, bytes.size()));
    if (bytes.size() > needed)
        throw InvalidArgument(
            fmt::format("{}: {} bytes follow the array of shape {}; a .npy file holds one array: "
                        "save each to its own file",
                        name, bytes.size() - needed, tuple_text(header.shape)));
    NpyArray array;
    array.dtype = type.kind == 'f' && type.size == 4 ? DType::float32 : DType::float64;
    array.values = convert_values(bytes, type);
    if (header.fortran_order) array.values = row_major(array.values, header.shape);
    array.shape = std::move(header.shape);
    return array;
}

NpyArray read_npy(const std::filesystem::path& path) { return parse_npy(read_file(path), path.string()); }

std::string npy_header(const std::vector<std::int64_t>& shape, DType dtype) {
    auto dictionary = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                                  dtype == DType::float32 ? "<f4" : "<f8", tuple_text(shape));
    const std::size_t prefix = magic.size() + 4;
    const auto unpadded = prefix + dictionary.size() + 1;
    dictionary.append((alignment - unpadded % alignment) % alignment, ' ');
    dictionary += '\n';
    std::string header(magic);
    header += {'\x01', '\x00', static_cast<char>(dictionary.size() & 0xffU),
               static_cast<char>(dictionary.size() >> 8U)};
    return header + dictionary;
}

void write_npy(const std::filesystem::path& path, std::span<const double> values,
               const std::vector<std::int64_t>& shape, DType dtype) {
    if (bytes_of_shape(shape, sizeof(double)) != values.size_bytes())
        throw InvalidArgument(fmt::format("{}: {} values do not fill the shape {}", path.string(),
                                          values.size(), tuple_text(shape)));
    const auto header = npy_header(shape, dtype);
    std::vector<float> rounded;
    auto data = std::as_bytes(values);
    if (dtype == DType::float32) {
        rounded.resize(values.size());
        std::transform(values.begin(), values.end(), rounded.begin(),
                       [](double value) { return static_cast<float>(value); });
        data = std::as_bytes(std::span<const float>(rounded));
    }
    write_pieces_atomically(path, std::array{as_byte_span(header), data});
}

} // namespace farfield
