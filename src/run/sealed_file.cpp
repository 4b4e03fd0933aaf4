#include "run/sealed_file.h"

#include "io/file.h"
#include "io/seal.h"

#include <fmt/format.h>

#include <system_error>

namespace farfield {
namespace {

namespace fs = std::filesystem;

void rename_or_throw(const fs::path& from, const fs::path& to) {
    std::error_code error;
    fs::rename(from, to, error);
    if (error)
        throw IoError(fmt::format("cannot rename '{}' to '{}': {}; check the folder's permissions",
                                  from.string(), to.string(), error.message()));
}

} // namespace

void write_sealed(const Generations& files, std::span<const std::byte> content) {
    // A kill between the two leaves the previous one alone, and that is enough to go on.
    if (fs::exists(files.newest)) rename_or_throw(files.newest, files.previous);
    write_with_seal(files.newest, content);
}

std::vector<std::byte> read_sealed(const fs::path& path) {
    auto bytes = read_file(path);
    if (seal_fits(bytes)) {
        bytes.resize(bytes.size() - sizeof(Seal));
        return bytes;
    }
    throw IoError(fmt::format("{}: the checksum at its end does not fit the content; the file is damaged or "
                              "incomplete",
                              path.string()));
}

} // namespace farfield
