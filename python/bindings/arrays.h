// The boundary between Python arrays and ArrayView. Arrays of float32 and float64 are not copied: those of
// NumPy, or of anything that speaks DLPack or the buffer protocol, on the CPU or on a CUDA GPU, are viewed
// with their own strides, and results are arrays of the same library that ours writes into. Other numbers
// (lists, tables, whole numbers, another byte order) are turned into an array of float64 first
// (farfield/_inputs.py).
#pragma once

#include <farfield/array.h>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <string>
#include <vector>

namespace farfield::python {

/// An argument that holds numbers; shows as numpy.typing.ArrayLike in signatures.
struct Input {
    nanobind::object object;
};

/// A NumPy array of float64 made by us; shows as such in signatures.
struct Float64Array {
    nanobind::object object;
};

/// One or two extents.
using Shape = std::vector<std::int64_t>;

/// A view and what keeps its memory alive.
template <class View>
struct Held {
    nanobind::object object; // the array itself
    std::shared_ptr<void>
        exported; // its buffer or DLPack export; some exporters keep the memory only in there
    View view;
};

/// Which arrays a function takes, and in which order the work on GPUs is done.
struct Memory {
    bool gpu = false; ///< CUDA memory is taken too
    void* stream =
        nullptr; ///< a cudaStream_t; producers make it wait for what they have queued. Null: the default one
};

/// The numbers of an array, viewed if they are float32 or float64, otherwise converted.
/// @throws TypeError (what holds no real numbers), InvalidArgument (device, dimensions); the message names
///         `parameter`.
Held<ConstArrayView> input_view(nanobind::handle object, const char* parameter, const Memory& memory = {});
/// An array that will be written: writable, of float32 or float64, and of exactly `shape`.
Held<ArrayView> output_view(nanobind::handle object, const Shape& shape, const char* parameter,
                            const Memory& memory = {});

/// True for an array with an axis or a list, false for a number and for text.
bool holds_several(nanobind::handle object);

/// True for an array in the memory of a CUDA GPU.
bool is_on_gpu(nanobind::handle object);

/// The cudaStream_t of None (null), a number, or an object of CuPy, PyTorch or anything with
/// `__cuda_stream__`.
/// @throws TypeError for others.
void* stream_pointer(nanobind::handle object);
/// The values of a view in row-major order. @throws InvalidArgument unless its shape is (rows,) or (rows,
/// columns).
std::vector<double> copy_in(const ConstArrayView& view, std::int64_t rows, std::int64_t columns,
                            const char* parameter);
/// "(3, 2)" as Python writes it.
std::string shape_text(const ConstArrayView& view);
nanobind::tuple shape_tuple(const Shape& shape);
/// A new NumPy array of float64 and a view of it.
Held<ArrayView> new_array(const Shape& shape);

} // namespace farfield::python

#define FF_OBJECT_CASTER(Wrapper, python_type)                                                               \
    template <>                                                                                              \
    struct nanobind::detail::type_caster<Wrapper> {                                                          \
        NB_TYPE_CASTER(Wrapper, const_name(python_type))                                                     \
        bool from_python(handle source, std::uint8_t, cleanup_list*) noexcept {                              \
            value.object = borrow(source);                                                                   \
            return true;                                                                                     \
        }                                                                                                    \
        static handle from_cpp(const Wrapper& wrapper, rv_policy, cleanup_list*) noexcept {                  \
            return handle(wrapper.object).inc_ref();                                                         \
        }                                                                                                    \
    }

// Any object is taken as it is; the checks, with messages that help, come where it is used.
FF_OBJECT_CASTER(farfield::python::Input, "numpy.typing.ArrayLike");
FF_OBJECT_CASTER(farfield::python::Float64Array, "numpy.typing.NDArray[numpy.float64]");
