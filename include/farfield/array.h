// Views of arrays that somebody else owns, in the shape of DLPack: a pointer, a type, a shape, strides in
// elements, and the device the memory lives on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>

namespace farfield {

/// Element types of an array.
enum class DType : std::uint8_t { float32, float64 };

/// Size of one element in bytes.
constexpr std::size_t size_of(DType type) { return type == DType::float32 ? 4 : 8; }

/// Kinds of device; the numbers are DLPack's.
enum class DeviceType : std::uint8_t { cpu = 1, cuda = 2 };

/// Where memory lives or work is done.
struct Device {
    DeviceType type = DeviceType::cpu;
    int index = 0;
    friend bool operator==(const Device&, const Device&) = default;
};

/// A view of an array of at most two dimensions. `Pointer` is `void*` (writable) or `const void*`.
/// `shape` counts elements, `strides` are in elements (not bytes). A view with `data == nullptr` is absent.
template <class Pointer>
struct BasicArrayView {
    Pointer data = nullptr;
    DType dtype = DType::float64;
    int ndim = 0;
    std::array<std::int64_t, 2> shape{0, 0};
    std::array<std::int64_t, 2> strides{0, 0};
    Device device{};

    BasicArrayView() = default;

    /// A row-major view: shape {n} or {rows, columns}.
    BasicArrayView(Pointer pointer, DType type, std::initializer_list<std::int64_t> extents,
                   Device where = {})
        : data(pointer), dtype(type), ndim(static_cast<int>(extents.size())), device(where) {
        int axis = 0;
        for (auto extent : extents)
            if (axis < 2) shape[static_cast<std::size_t>(axis++)] = extent;
        strides = ndim == 2 ? std::array<std::int64_t, 2>{shape[1], 1} : std::array<std::int64_t, 2>{1, 0};
    }

    /// A one-dimensional view of contiguous host memory.
    template <class T>
    requires(std::is_same_v<std::remove_const_t<T>, float> || std::is_same_v<std::remove_const_t<T>, double>)
        BasicArrayView(std::span<T> values) // NOLINT(google-explicit-constructor): spans are views already
        : BasicArrayView(values.data(),
                         std::is_same_v<std::remove_const_t<T>, float> ? DType::float32 : DType::float64,
                         {static_cast<std::int64_t>(values.size())}) {}

    /// A writable view is also a readable one.
    template <class Other>
    requires(std::is_same_v<Pointer, const void*>&& std::is_same_v<Other, void*>)
        BasicArrayView(const BasicArrayView<Other>& other) // NOLINT(google-explicit-constructor)
        : data(other.data), dtype(other.dtype), ndim(other.ndim), shape(other.shape), strides(other.strides),
          device(other.device) {}

    /// True where there is an array to read or write.
    explicit operator bool() const { return data != nullptr; }
};

using ArrayView = BasicArrayView<void*>;
using ConstArrayView = BasicArrayView<const void*>;

/// A rows×columns view of contiguous row-major values, such as N×3 points in a `std::vector<double>`.
/// @throws nothing; the caller sees to it that `values` holds rows·columns elements.
template <class T>
auto matrix_view(std::span<T> values, std::int64_t columns) {
    using View = std::conditional_t<std::is_const_v<T>, ConstArrayView, ArrayView>;
    constexpr DType type = std::is_same_v<std::remove_const_t<T>, float> ? DType::float32 : DType::float64;
    return View(values.data(), type, {static_cast<std::int64_t>(values.size()) / columns, columns});
}

} // namespace farfield
