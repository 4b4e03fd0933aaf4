// What the files of the HDF5 layer share; nothing else includes this.
#pragma once

#include "io/hdf5.h"

#include <farfield/error.h>

#include <fmt/format.h>
#include <hdf5.h>

#include <type_traits>

namespace farfield::hdf5 {

static_assert(std::is_same_v<hid_t, std::int64_t>);

/// The text of HDF5's error stack, innermost cause first; to be taken right after the failing call.
std::string error_text();

[[noreturn]] inline void fail_io(std::string_view label, std::string_view action) {
    throw IoError(
        fmt::format("{}: cannot {}: {}; the file may be truncated or damaged: copy or write it again", label,
                    action, error_text()));
}

inline Handle checked(hid_t id, Handle::Closer closer, std::string_view label, std::string_view action) {
    if (id < 0) fail_io(label, action);
    return {id, closer};
}

inline void check(herr_t status, std::string_view label, std::string_view action) {
    if (status < 0) fail_io(label, action);
}

template <class T>
hid_t memory_type() {
    if constexpr (std::is_same_v<T, double>) return H5T_NATIVE_DOUBLE;
    if constexpr (std::is_same_v<T, float>) return H5T_NATIVE_FLOAT;
    if constexpr (std::is_same_v<T, std::uint64_t>) return H5T_NATIVE_UINT64;
    if constexpr (std::is_same_v<T, std::int64_t>) return H5T_NATIVE_INT64;
    if constexpr (std::is_same_v<T, std::int32_t>) return H5T_NATIVE_INT32;
    if constexpr (std::is_same_v<T, std::uint8_t>) return H5T_NATIVE_UINT8;
}

/// The type in files: little-endian everywhere.
template <class T>
hid_t file_type() {
    if constexpr (std::is_same_v<T, double>) return H5T_IEEE_F64LE;
    if constexpr (std::is_same_v<T, float>) return H5T_IEEE_F32LE;
    if constexpr (std::is_same_v<T, std::uint64_t>) return H5T_STD_U64LE;
    if constexpr (std::is_same_v<T, std::int64_t>) return H5T_STD_I64LE;
    if constexpr (std::is_same_v<T, std::int32_t>) return H5T_STD_I32LE;
    if constexpr (std::is_same_v<T, std::uint8_t>) return H5T_STD_U8LE;
}

inline bool holds_numbers(hid_t type) {
    const auto kind = H5Tget_class(type);
    return kind == H5T_INTEGER || kind == H5T_FLOAT;
}

} // namespace farfield::hdf5

/// Instantiates a template for each element type of the layer.
#define FF_FOR_EACH_HDF5_TYPE(X)                                                                             \
    X(double) X(float) X(std::uint64_t) X(std::int64_t) X(std::int32_t) X(std::uint8_t)
