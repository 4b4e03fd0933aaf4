#include "run/checkpoint.h"

#include "run/sealed_file.h"

#include <farfield/error.h>
#include <farfield/version.h>

#include <fmt/format.h>

namespace farfield {

namespace fs = std::filesystem;

hdf5::File open_checkpoint(const fs::path& path) {
    return hdf5::File::open_image(read_sealed(path), path.string());
}

void require_format(const fs::path& file, std::uint64_t found, std::uint64_t expected) {
    if (found != expected)
        throw InvalidArgument(fmt::format("{}: its format is {}, this version of Farfield reads {}",
                                          file.string(), found, expected));
}

void require_this_version(const fs::path& folder, std::string_view written_by, std::string_view remedy) {
    if (written_by != version())
        throw InvalidArgument(
            fmt::format("the checkpoint in '{}' was written by Farfield {}, this is {}, whose last "
                        "bits may differ; continue with that version, or {}",
                        folder.string(), written_by, version(), remedy));
}

void require_same(std::string_view what, const fs::path& folder, std::string_view difference,
                  std::string_view kept_as) {
    if (!difference.empty())
        throw InvalidArgument(
            fmt::format("the run in '{}' is of another {}: {}; restart it with the {} it began "
                        "with ({} there), or choose another folder",
                        folder.string(), what, difference, what, kept_as));
}

} // namespace farfield
