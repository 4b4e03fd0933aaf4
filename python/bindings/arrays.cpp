#include "arrays.h"

#include <farfield/error.h>

#include <algorithm>
#include <optional>
#include <string>

namespace nb = nanobind;

namespace farfield::python {
namespace {

constexpr int dl_cuda = 2;
// DLPack's numbers of memories that the CPU reads: host, and host memory pinned by CUDA or ROCm.
constexpr int dl_cpu = 1;
constexpr int dl_cuda_host = 3;
constexpr int dl_rocm_host = 11;

bool is_host(int device_type) {
    return device_type == dl_cpu || device_type == dl_cuda_host || device_type == dl_rocm_host;
}

std::string class_name(nb::handle object) { return nb::cast<std::string>(object.type().attr("__name__")); }

std::string dtype_name(nb::handle object) {
    const nb::object dtype = nb::getattr(object, "dtype", nb::none());
    return nb::cast<std::string>(nb::str(nb::handle(dtype)));
}

int device_type(nb::handle object) {
    if (!nb::hasattr(object, "__dlpack_device__")) return dl_cpu;
    const nb::object device = object.attr("__dlpack_device__")();
    return static_cast<int>(nb::cast<long>(nb::int_(device[0])));
}

void refuse_device(nb::handle object, const std::string& parameter, bool takes_gpu) {
    const int type = device_type(object);
    if (is_host(type) || (takes_gpu && type == dl_cuda)) return;
    throw InvalidArgument(parameter + " lives on " +
                          (type == dl_cuda ? "a CUDA device" : "device type " + std::to_string(type)) +
                          "; memory of the host" + (takes_gpu ? " and of CUDA GPUs" : "") +
                          " is allowed: pass a host copy (x.cpu() in PyTorch, x.get() in CuPy)");
}

/// What to view: the object itself, or for GPU memory its DLPack export, ordered before our stream's work.
nb::object exported(nb::handle object, void* stream) {
    if (!is_on_gpu(object)) return nb::borrow(object);
    constexpr std::uintptr_t default_stream = 1; // as DLPack numbers it
    const auto number = stream != nullptr ? reinterpret_cast<std::uintptr_t>(stream) : default_stream;
    return object.attr("__dlpack__")(nb::arg("stream") = nb::int_(number));
}

/// The view of an array of float32 or float64, or nothing: of other elements, in another byte order, with
/// strides that are not whole elements, read-only where it must be writable, or no array at all.
template <class View, class... Config>
std::optional<Held<View>> try_view(nb::handle object, const std::string& parameter, void* stream) {
    using Array = nb::ndarray<Config...>;
    Array array;
    const nb::object source = exported(object, stream);
    if (!nb::try_cast<Array>(source, array, false)) return std::nullopt;
    const auto type = array.dtype();
    if (type != nb::dtype<float>() && type != nb::dtype<double>()) return std::nullopt;
    if (array.ndim() < 1 || array.ndim() > 2)
        throw InvalidArgument(parameter + " has " + std::to_string(array.ndim()) +
                              " dimensions; it must have 1 or 2");
    View view;
    view.data = array.data();
    view.dtype = type == nb::dtype<float>() ? DType::float32 : DType::float64;
    view.ndim = static_cast<int>(array.ndim());
    if (array.device_type() == dl_cuda) view.device = {DeviceType::cuda, static_cast<int>(array.device_id())};
    for (std::size_t axis = 0; axis < array.ndim(); ++axis) {
        view.shape[axis] = static_cast<std::int64_t>(array.shape(axis));
        view.strides[axis] = array.stride(axis);
    }
    return Held<View>{nb::borrow(object), std::make_shared<Array>(std::move(array)), view};
}

[[noreturn]] void refuse_output(nb::handle object, const std::string& parameter) {
    const auto elements = nb::hasattr(object, "dtype") ? " of dtype " + dtype_name(object) : std::string();
    throw nb::type_error((parameter + " is a " + class_name(object) + elements +
                          " that cannot be written in place; pass a writable array of float32 or float64 in "
                          "native byte order")
                             .c_str());
}

/// On the host: numbers of any kind, in a new array. Those on a GPU stay there and are refused.
Held<ConstArrayView> converted(nb::handle object, const std::string& parameter) {
    if (is_on_gpu(object))
        throw nb::type_error((parameter + " has elements of type " + dtype_name(object) +
                              "; on a GPU float32 and float64 are allowed")
                                 .c_str());
    const nb::object array = nb::module_::import_("farfield._inputs").attr("as_float64")(object, parameter);
    auto view = try_view<ConstArrayView, nb::ro>(array, parameter, nullptr);
    if (!view) throw InternalError(parameter + ": an array of float64 cannot be viewed");
    return *std::move(view);
}

} // namespace

std::string shape_text(const ConstArrayView& view) {
    const std::string text = "(" + std::to_string(view.shape[0]);
    return text + (view.ndim == 2 ? ", " + std::to_string(view.shape[1]) + ")" : ",)");
}

std::vector<double> copy_in(const ConstArrayView& view, std::int64_t rows, std::int64_t columns,
                            const char* parameter) {
    const bool fits = columns == 1 ? view.ndim == 1 && view.shape[0] == rows
                                   : view.ndim == 2 && view.shape[0] == rows && view.shape[1] == columns;
    if (!fits) {
        const std::string tail = columns == 1 ? ",)" : ", " + std::to_string(columns) + ")";
        throw InvalidArgument(std::string(parameter) + " has shape " + shape_text(view) + "; it must be (" +
                              std::to_string(rows) + tail + ", one row a body as in masses");
    }
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(rows * columns));
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t k = 0; k < columns; ++k) {
            const auto at = i * view.strides[0] + k * view.strides[1];
            values.push_back(view.dtype == DType::float64
                                 ? static_cast<const double*>(view.data)[at]
                                 : static_cast<double>(static_cast<const float*>(view.data)[at]));
        }
    return values;
}

nb::tuple shape_tuple(const Shape& shape) {
    nb::list extents;
    for (auto extent : shape) extents.append(extent);
    return nb::tuple(extents);
}

bool holds_several(nb::handle object) {
    if (nb::isinstance<nb::str>(object)) return false;
    if (nb::hasattr(object, "ndim")) return nb::cast<int>(object.attr("ndim")) > 0;
    return nb::hasattr(object, "__len__");
}

bool is_on_gpu(nb::handle object) { return device_type(object) == dl_cuda; }

void* stream_pointer(nb::handle object) {
    if (object.is_none()) return nullptr;
    nb::object number = nb::borrow(object);
    if (nb::hasattr(object, "__cuda_stream__"))
        number = object.attr("__cuda_stream__")()[1];
    else if (nb::hasattr(object, "cuda_stream")) // PyTorch
        number = object.attr("cuda_stream");
    else if (nb::hasattr(object, "ptr")) // CuPy
        number = object.attr("ptr");
    if (!nb::isinstance<nb::int_>(number))
        throw nb::type_error(
            ("stream is a " + class_name(object) +
             "; it must be None, a stream of CuPy or PyTorch, or the number of a cudaStream_t")
                .c_str());
    return reinterpret_cast<void*>(nb::cast<std::uintptr_t>(number));
}

Held<ConstArrayView> input_view(nb::handle object, const char* parameter, const Memory& memory) {
    refuse_device(object, parameter, memory.gpu);
    auto view = try_view<ConstArrayView, nb::ro>(object, parameter, memory.stream);
    return view ? *std::move(view) : converted(object, parameter);
}

Held<ArrayView> output_view(nb::handle object, const Shape& shape, const char* parameter,
                            const Memory& memory) {
    refuse_device(object, parameter, memory.gpu);
    auto view = try_view<ArrayView>(object, parameter, memory.stream);
    if (!view) refuse_output(object, parameter);
    auto held = *std::move(view);
    ConstArrayView wanted;
    wanted.ndim = static_cast<int>(shape.size());
    std::copy(shape.begin(), shape.end(), wanted.shape.begin());
    const auto given = Shape(held.view.shape.begin(), held.view.shape.begin() + held.view.ndim);
    if (given != shape)
        throw InvalidArgument(std::string(parameter) + " has shape " + shape_text(held.view) +
                              "; it must be " + shape_text(wanted));
    return held;
}

Held<ArrayView> new_array(const Shape& shape) {
    const nb::object array = nb::module_::import_("numpy").attr("empty")(shape_tuple(shape));
    auto view = try_view<ArrayView>(array, "result", nullptr);
    if (!view) throw InternalError("an array of NumPy cannot be written");
    return *std::move(view);
}

} // namespace farfield::python
