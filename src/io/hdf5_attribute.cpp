// Attributes of the HDF5 layer: numbers, short arrays of numbers and text.
#include "io/hdf5_internal.h"

#include <algorithm>

namespace farfield::hdf5 {
namespace {

constexpr hssize_t most_elements = 1 << 20; // attributes are small; more is a damaged file
constexpr std::size_t longest_text = 1 << 20;

Handle open_attribute(const Handle& object, const std::string& name, const std::string& label) {
    if (H5Aexists(object.get(), name.c_str()) <= 0)
        throw InvalidArgument(fmt::format("{}: there is no attribute '{}'", label, name));
    return checked(H5Aopen(object.get(), name.c_str(), H5P_DEFAULT), H5Aclose, label,
                   "open attribute " + name);
}

void write(const Handle& object, const std::string& label, const std::string& name, hid_t file_type,
           hid_t memory_type, const Handle& space, const void* data) {
    const auto attribute =
        checked(H5Acreate2(object.get(), name.c_str(), file_type, space.get(), H5P_DEFAULT, H5P_DEFAULT),
                H5Aclose, label, "create attribute " + name);
    check(H5Awrite(attribute.get(), memory_type, data), label, "write attribute " + name);
}

} // namespace

bool Object::has_attribute(const std::string& name) const {
    return H5Aexists(handle_.get(), name.c_str()) > 0;
}

template <class T>
void Object::write_attribute(const std::string& name, const T& value) {
    const auto space = checked(H5Screate(H5S_SCALAR), H5Sclose, label_, "create attribute " + name);
    write(handle_, label_, name, file_type<T>(), memory_type<T>(), space, &value);
}

// Text is stored with a fixed length and without a terminator, as GADGET-4 does.
template <>
void Object::write_attribute<std::string>(const std::string& name, const std::string& text) {
    const auto space = checked(H5Screate(H5S_SCALAR), H5Sclose, label_, "create attribute " + name);
    const auto type = checked(H5Tcopy(H5T_C_S1), H5Tclose, label_, "create attribute " + name);
    check(H5Tset_size(type.get(), std::max<std::size_t>(1, text.size())), label_, "create attribute " + name);
    write(handle_, label_, name, type.get(), type.get(), space, text.c_str());
}

void Object::write_attribute(const std::string& name, const char* text) {
    write_attribute(name, std::string(text));
}

template <class T>
void Object::write_attribute_array(const std::string& name, std::span<const T> values) {
    const hsize_t extent = values.size();
    const auto space =
        checked(H5Screate_simple(1, &extent, nullptr), H5Sclose, label_, "create attribute " + name);
    write(handle_, label_, name, file_type<T>(), memory_type<T>(), space, values.data());
}

template <class T>
std::vector<T> Object::attribute_array(const std::string& name) const {
    const auto attribute = open_attribute(handle_, name, label_);
    const auto type = checked(H5Aget_type(attribute.get()), H5Tclose, label_, "read attribute " + name);
    const auto space = checked(H5Aget_space(attribute.get()), H5Sclose, label_, "read attribute " + name);
    const auto elements = H5Sget_simple_extent_npoints(space.get());
    if (!holds_numbers(type.get()) || elements < 0 || elements > most_elements)
        throw InvalidArgument(
            fmt::format("{}: attribute '{}' does not hold numbers; numbers are needed", label_, name));
    std::vector<T> values(static_cast<std::size_t>(elements));
    if (elements > 0)
        check(H5Aread(attribute.get(), memory_type<T>(), values.data()), label_, "read attribute " + name);
    return values;
}

template <class T>
T Object::attribute(const std::string& name) const {
    const auto values = attribute_array<T>(name);
    if (values.size() != 1)
        throw InvalidArgument(
            fmt::format("{}: attribute '{}' holds {} values; one is needed", label_, name, values.size()));
    return values.front();
}

std::string Object::text_attribute(const std::string& name) const {
    const auto attribute = open_attribute(handle_, name, label_);
    const auto type = checked(H5Aget_type(attribute.get()), H5Tclose, label_, "read attribute " + name);
    const auto space = checked(H5Aget_space(attribute.get()), H5Sclose, label_, "read attribute " + name);
    const auto size = H5Tget_size(type.get());
    if (H5Tget_class(type.get()) != H5T_STRING || H5Sget_simple_extent_npoints(space.get()) != 1 ||
        size > longest_text)
        throw InvalidArgument(fmt::format("{}: attribute '{}' does not hold one text", label_, name));
    if (H5Tis_variable_str(type.get()) > 0) {
        char* text = nullptr;
        check(H5Aread(attribute.get(), type.get(), &text), label_, "read attribute " + name);
        std::string copy = text == nullptr ? "" : text;
        H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, &text);
        return copy;
    }
    std::string text(size, '\0');
    check(H5Aread(attribute.get(), type.get(), text.data()), label_, "read attribute " + name);
    return text.substr(0, text.find('\0'));
}

#define FF_INSTANTIATE(T)                                                                                    \
    template void Object::write_attribute<T>(const std::string&, const T&);                                  \
    template void Object::write_attribute_array<T>(const std::string&, std::span<const T>);                  \
    template std::vector<T> Object::attribute_array<T>(const std::string&) const;                            \
    template T Object::attribute<T>(const std::string&) const;
FF_FOR_EACH_HDF5_TYPE(FF_INSTANTIATE)
#undef FF_INSTANTIATE

} // namespace farfield::hdf5
