// NumPy views of vectors that a bound C++ object owns: no copy, and the object stays alive as long as a view
// does. The vectors must never be resized or replaced.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <type_traits>
#include <utility>
#include <vector>

namespace farfield::python {

template <class Vector>
using element_of = std::conditional_t<std::is_const_v<Vector>, const typename Vector::value_type,
                                      typename Vector::value_type>;

/// (N,) view of `values`; read-only where the vector is const.
template <class Vector>
auto view_vector(Vector& values, nanobind::handle owner) {
    return nanobind::ndarray<nanobind::numpy, element_of<Vector>, nanobind::ndim<1>>(values.data(),
                                                                                     {values.size()}, owner);
}

/// (N, 3) view of `values`.
template <class Vector>
auto view_matrix(Vector& values, nanobind::handle owner) {
    return nanobind::ndarray<nanobind::numpy, element_of<Vector>, nanobind::ndim<2>>(
        values.data(), {values.size() / 3, 3}, owner);
}

/// What view(vector, owner) makes of a vector that is owned by what it makes.
template <class Value, class View>
auto owned(std::vector<Value> values, const View& view) {
    auto* held = new std::vector<Value>(std::move(values));
    const nanobind::capsule owner(
        held, [](void* vector) noexcept { delete static_cast<std::vector<Value>*>(vector); });
    return view(std::as_const(*held), owner);
}

} // namespace farfield::python

/// The signature of a property that is an array, for stubs.
#define FF_ARRAY_SIG(name, dtype) nanobind::sig("def " name "(self) -> numpy.typing.NDArray[numpy." dtype "]")
#define FF_OPTIONAL_ARRAY_SIG(name, dtype)                                                                   \
    nanobind::sig("def " name "(self) -> numpy.typing.NDArray[numpy." dtype "] | None")
