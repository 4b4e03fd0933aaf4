// A small layer over HDF5's C API: files, groups, datasets and attributes that close themselves and whose
// failures are IoError or InvalidArgument with the file's name and the text of HDF5's error stack.
//
// A file that is written lives in memory until `save`, which writes it as any other file of ours (atomically,
// each system call checked): HDF5 itself copes badly with a disk that fills. No times are stored and the
// format version is fixed, so the same content gives the same bytes. One file holds a lock on the library,
// which is not thread-safe: a second thread waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::hdf5 {

using Shape = std::vector<std::int64_t>;

/// How a dataset lies in the file: in one piece, or in chunks with a Fletcher-32 checksum each, which every
/// reader of HDF5 checks. What a damaged file lost reads as NaN then.
enum class Storage : std::uint8_t { plain, checked };

/// An identifier of the library; closed with the last copy.
class Handle {
public:
    using Closer = int (*)(std::int64_t);
    Handle() = default;
    Handle(std::int64_t id, Closer closer);
    [[nodiscard]] std::int64_t get() const { return id_ ? *id_ : -1; }

private:
    std::shared_ptr<const std::int64_t> id_;
};

/// What groups and datasets share: a name for messages and attributes. T is double, float, std::uint64_t,
/// std::int64_t, std::int32_t or std::uint8_t.
class Object {
public:
    [[nodiscard]] bool has_attribute(const std::string& name) const;
    template <class T>
    void write_attribute(const std::string& name, const T& value);
    void write_attribute(const std::string& name, const char* text);
    template <class T>
    void write_attribute_array(const std::string& name, std::span<const T> values);
    /// All elements, in order. @throws InvalidArgument where it is absent or holds no numbers.
    template <class T>
    [[nodiscard]] std::vector<T> attribute_array(const std::string& name) const;
    /// The only element. @throws InvalidArgument where it is absent, no number or has several elements.
    template <class T>
    [[nodiscard]] T attribute(const std::string& name) const;
    [[nodiscard]] std::string text_attribute(const std::string& name) const;
    /// "file.h5: /PartType1", for messages.
    [[nodiscard]] const std::string& label() const { return label_; }

protected:
    Object(Handle handle, std::string label) : handle_(std::move(handle)), label_(std::move(label)) {}
    Handle handle_;
    std::string label_;
};

class Dataset : public Object {
public:
    [[nodiscard]] const Shape& shape() const { return shape_; }
    /// All elements, row-major, converted to T. @throws InvalidArgument for elements that are no numbers or
    /// whose declared number cannot be in the file; IoError where they cannot be read.
    template <class T>
    [[nodiscard]] std::vector<T> read() const;

private:
    friend class Group;
    Dataset(Handle handle, std::string label, Shape shape)
        : Object(std::move(handle), std::move(label)), shape_(std::move(shape)) {}
    Shape shape_;
};

class Group : public Object {
public:
    [[nodiscard]] bool has_group(const std::string& name) const;
    [[nodiscard]] bool has_dataset(const std::string& name) const;
    /// @throws InvalidArgument where there is none of that name.
    [[nodiscard]] Group group(const std::string& name) const;
    [[nodiscard]] Dataset dataset(const std::string& name) const;
    Group create_group(const std::string& name);
    template <class T>
    Dataset write(const std::string& name, std::span<const T> values, const Shape& shape,
                  Storage storage = Storage::plain);
    template <class T>
    Dataset write(const std::string& name, const std::vector<T>& values, Storage storage = Storage::plain) {
        return write(name, std::span<const T>(values), {static_cast<std::int64_t>(values.size())}, storage);
    }

private:
    friend class File;
    using Object::Object;
    [[nodiscard]] std::string child_label(const std::string& name) const;
};

/// A file; outlives every group and dataset taken from it.
class File {
public:
    /// Opens for reading. @throws IoError where it cannot be opened or is truncated or damaged;
    /// InvalidArgument where it is empty or no HDF5 file.
    static File open(const std::filesystem::path& path);
    /// The same for the bytes of a file.
    static File open_image(std::span<const std::byte> bytes, const std::string& name);
    /// A new file in memory.
    static File create();
    /// The file's bytes so far.
    [[nodiscard]] std::vector<std::byte> image() const;
    /// Writes the bytes atomically to `path`.
    void save(const std::filesystem::path& path) const;
    [[nodiscard]] Group root() const;

private:
    class Library;
    explicit File(std::string name);
    std::shared_ptr<Library> library_; // first: released last
    std::string name_;
    Handle handle_;
};

} // namespace farfield::hdf5
