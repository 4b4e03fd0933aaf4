// Files, groups and datasets of the HDF5 layer.
#include "io/hdf5.h"

#include "io/atomic_file.h"
#include "io/file.h"
#include "io/hdf5_internal.h"
#include "io/messages.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <limits>
#include <mutex>
#include <utility>

namespace farfield::hdf5 {
namespace {

constexpr std::array<unsigned char, 8> signature{0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
constexpr std::size_t image_growth = std::size_t{1} << 20U;
// A deflated element takes at least 1/1032 of its size; more than this declared for the bytes that are stored
// is a damaged or hostile file, refused before memory is asked for.
constexpr double largest_compression = 2000.0;

std::recursive_mutex& library_mutex() {
    static std::recursive_mutex mutex;
    return mutex;
}

herr_t collect(unsigned depth, const H5E_error2_t* error, void* out) {
    auto& text = *static_cast<std::string*>(out);
    constexpr unsigned frames = 2; // the cause and the call that met it
    if (depth < frames && error->desc != nullptr)
        text += (text.empty() ? "" : "; ") + std::string(error->desc);
    return 0;
}

// Properties of every file of ours: a fixed range of format versions that HDF5 1.8 and later read, no locks
// when reading (parallel file systems often have none). The low bound stays at the earliest: with later
// superblocks H5Fget_file_image clears a flag without renewing the checksum, and nobody can open the image
// (HDF5 1.10.8).
Handle access_properties() {
    auto properties = checked(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "HDF5", "make access properties");
    check(H5Pset_libver_bounds(properties.get(), H5F_LIBVER_EARLIEST, H5F_LIBVER_V18), "HDF5",
          "fix the version");
    check(H5Pset_file_locking(properties.get(), 0, 1), "HDF5", "turn locks off");
    return properties;
}

Handle without_times(hid_t kind) {
    auto properties = checked(H5Pcreate(kind), H5Pclose, "HDF5", "make creation properties");
    check(H5Pset_obj_track_times(properties.get(), 0), "HDF5", "turn times off");
    return properties;
}

void require_signature(std::span<const std::byte> head, const std::string& name) {
    if (head.empty())
        throw InvalidArgument(fmt::format("{}: the file is empty; an HDF5 file is needed", name));
    const auto expected = std::as_bytes(std::span(signature));
    if (head.size() < expected.size() || !std::equal(expected.begin(), expected.end(), head.begin()))
        throw InvalidArgument(
            fmt::format("{}: not an HDF5 file (it starts with {}); use the extension of its real "
                        "format",
                        name, printable(as_text(head).substr(0, expected.size()))));
}

std::vector<std::byte> read_head(const std::filesystem::path& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) throw IoError(system_failure("open", path, errno));
    std::vector<std::byte> head(signature.size());
    const auto got = ::read(fd, head.data(), head.size());
    const int error_number = errno;
    ::close(fd);
    if (got < 0) throw IoError(system_failure("read", path, error_number));
    head.resize(static_cast<std::size_t>(got));
    return head;
}

} // namespace

std::string error_text() {
    std::string text;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, collect, &text);
    return text.empty() ? "unknown HDF5 error" : text;
}

Handle::Handle(std::int64_t id, Closer closer)
    : id_(new std::int64_t(id), [closer](const std::int64_t* owned) {
          closer(*owned);
          delete owned;
      }) {}

// Holds the library for one file: the lock, and HDF5's own printing of errors turned off while it lasts.
class File::Library {
public:
    Library() : lock_(library_mutex()) {
        H5Eget_auto2(H5E_DEFAULT, &printer_, &printer_data_);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
    ~Library() { H5Eset_auto2(H5E_DEFAULT, printer_, printer_data_); }

private:
    std::unique_lock<std::recursive_mutex> lock_;
    H5E_auto2_t printer_ = nullptr;
    void* printer_data_ = nullptr;
};

File::File(std::string name) : library_(std::make_shared<Library>()), name_(std::move(name)) {}

File File::open(const std::filesystem::path& path) {
    require_signature(read_head(path), path.string());
    File file(path.string());
    const auto access = access_properties();
    file.handle_ = checked(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose, file.name_, "open");
    return file;
}

File File::open_image(std::span<const std::byte> bytes, const std::string& name) {
    require_signature(bytes, name);
    File file(name);
    const auto access = access_properties();
    check(H5Pset_fapl_core(access.get(), image_growth, 0), name, "open");
    check(H5Pset_file_image(access.get(), const_cast<std::byte*>(bytes.data()), bytes.size()), name, "open");
    file.handle_ = checked(H5Fopen("image", H5F_ACC_RDONLY, access.get()), H5Fclose, name, "open");
    return file;
}

File File::create() {
    File file("new file");
    const auto access = access_properties();
    check(H5Pset_fapl_core(access.get(), image_growth, 0), file.name_, "create");
    const auto creation = without_times(H5P_FILE_CREATE);
    file.handle_ = checked(H5Fcreate("image", H5F_ACC_TRUNC, creation.get(), access.get()), H5Fclose,
                           file.name_, "create");
    return file;
}

std::vector<std::byte> File::image() const {
    check(H5Fflush(handle_.get(), H5F_SCOPE_GLOBAL), name_, "write");
    const auto size = H5Fget_file_image(handle_.get(), nullptr, 0);
    if (size < 0) fail_io(name_, "write");
    std::vector<std::byte> bytes(static_cast<std::size_t>(size));
    if (H5Fget_file_image(handle_.get(), bytes.data(), bytes.size()) != size) fail_io(name_, "write");
    return bytes;
}

void File::save(const std::filesystem::path& path) const { write_file_atomically(path, image()); }

Group File::root() const {
    return Group(checked(H5Gopen2(handle_.get(), "/", H5P_DEFAULT), H5Gclose, name_, "open the root group"),
                 name_ + ": /");
}

std::string Group::child_label(const std::string& name) const {
    return label_ + (label_.ends_with('/') ? "" : "/") + name;
}

namespace {

bool has_object(hid_t group, const std::string& name, H5O_type_t type) {
    if (H5Lexists(group, name.c_str(), H5P_DEFAULT) <= 0) return false;
    H5O_info_t info;
    return H5Oget_info_by_name2(group, name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
           info.type == type;
}

} // namespace

bool Group::has_group(const std::string& name) const {
    return has_object(handle_.get(), name, H5O_TYPE_GROUP);
}

bool Group::has_dataset(const std::string& name) const {
    return has_object(handle_.get(), name, H5O_TYPE_DATASET);
}

Group Group::group(const std::string& name) const {
    if (!has_group(name)) throw InvalidArgument(fmt::format("{}: there is no group '{}'", label_, name));
    return {checked(H5Gopen2(handle_.get(), name.c_str(), H5P_DEFAULT), H5Gclose, label_, "open " + name),
            child_label(name)};
}

Group Group::create_group(const std::string& name) {
    const auto creation = without_times(H5P_GROUP_CREATE);
    return {checked(H5Gcreate2(handle_.get(), name.c_str(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
                    H5Gclose, label_, "create " + name),
            child_label(name)};
}

Dataset Group::dataset(const std::string& name) const {
    if (!has_dataset(name)) throw InvalidArgument(fmt::format("{}: there is no dataset '{}'", label_, name));
    auto label = child_label(name);
    auto handle = checked(H5Dopen2(handle_.get(), name.c_str(), H5P_DEFAULT), H5Dclose, label, "open");
    const auto space = checked(H5Dget_space(handle.get()), H5Sclose, label, "read the shape");
    std::array<hsize_t, H5S_MAX_RANK> extents{};
    const int rank = H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
    if (rank < 0) fail_io(label, "read the shape");
    return {std::move(handle), std::move(label), Shape(extents.begin(), extents.begin() + rank)};
}

namespace {

// Chunks of equal length, at most 65536 rows each.
template <class T>
void put_checksums(const Handle& creation, std::vector<hsize_t> extents, const std::string& label) {
    constexpr hsize_t most_rows = 65536;
    const hsize_t chunks = (extents[0] + most_rows - 1) / most_rows;
    extents[0] = (extents[0] + chunks - 1) / chunks;
    check(H5Pset_chunk(creation.get(), static_cast<int>(extents.size()), extents.data()), label, "chunk");
    check(H5Pset_fletcher32(creation.get()), label, "add checksums");
    if constexpr (std::is_floating_point_v<T>) {
        const T lost = std::numeric_limits<T>::quiet_NaN();
        check(H5Pset_fill_value(creation.get(), memory_type<T>(), &lost), label, "set the fill value");
    }
}

} // namespace

template <class T>
Dataset Group::write(const std::string& name, std::span<const T> values, const Shape& shape,
                     Storage storage) {
    auto label = child_label(name);
    std::vector<hsize_t> extents(shape.begin(), shape.end());
    hsize_t product = 1;
    for (auto extent : extents) product *= extent;
    if (product != values.size())
        throw InternalError(fmt::format("{}: {} values for {} elements", label, values.size(), product));
    const auto space = checked(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
                               H5Sclose, label, "create");
    const auto creation = without_times(H5P_DATASET_CREATE);
    if (storage == Storage::checked && product > 0) put_checksums<T>(creation, extents, label);
    auto handle = checked(H5Dcreate2(handle_.get(), name.c_str(), file_type<T>(), space.get(), H5P_DEFAULT,
                                     creation.get(), H5P_DEFAULT),
                          H5Dclose, label, "create");
    if (product > 0)
        check(H5Dwrite(handle.get(), memory_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), label,
              "write");
    return {std::move(handle), std::move(label), shape};
}

namespace {

// Number of elements, once it is known that the file can hold them.
std::size_t trusted_size(hid_t dataset, hid_t type, const Shape& shape, const std::string& label) {
    double elements = 1.0; // as a double, a product cannot overflow
    for (auto extent : shape) elements *= static_cast<double>(extent);
    if (elements == 0.0) return 0;
    const auto file = checked(H5Iget_file_id(dataset), H5Fclose, label, "read");
    hsize_t file_size = 0;
    check(H5Fget_filesize(file.get(), &file_size), label, "read");
    const auto stored = static_cast<double>(H5Dget_storage_size(dataset));
    if (!(elements > 0.0) || stored > static_cast<double>(file_size) ||
        elements * static_cast<double>(H5Tget_size(type)) > stored * largest_compression)
        throw InvalidArgument(
            fmt::format("{}: {:.0f} elements are declared, but only {:.0f} bytes of them stored in a file of "
                        "{} bytes: the dataset was never written or is damaged; write it again",
                        label, elements, stored, file_size));
    return static_cast<std::size_t>(elements);
}

} // namespace

template <class T>
std::vector<T> Dataset::read() const {
    const auto type = checked(H5Dget_type(handle_.get()), H5Tclose, label_, "read the element type");
    if (!holds_numbers(type.get()))
        throw InvalidArgument(fmt::format(
            "{}: its elements are not numbers; integers or floating-point numbers are needed", label_));
    std::vector<T> values(trusted_size(handle_.get(), type.get(), shape_, label_));
    if (!values.empty())
        check(H5Dread(handle_.get(), memory_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), label_,
              "read");
    return values;
}

#define FF_INSTANTIATE(T)                                                                                    \
    template std::vector<T> Dataset::read<T>() const;                                                        \
    template Dataset Group::write<T>(const std::string&, std::span<const T>, const Shape&, Storage);
FF_FOR_EACH_HDF5_TYPE(FF_INSTANTIATE)
#undef FF_INSTANTIATE

} // namespace farfield::hdf5
