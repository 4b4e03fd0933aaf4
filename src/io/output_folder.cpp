#include "io/output_folder.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <cerrno>
#include <system_error>
#include <unistd.h>

namespace farfield {

namespace fs = std::filesystem;

void open_output_folder(const fs::path& path) {
    if (path.empty())
        throw InvalidArgument("the output folder has an empty name; name a folder for the results");
    std::error_code error;
    fs::create_directories(path, error);
    if (error || !fs::is_directory(path))
        throw IoError(
            fmt::format("cannot create the output folder '{}': {}; choose a folder that you may write to",
                        path.string(), error ? error.message() : "there is a file of that name"));
    if (access(path.c_str(), W_OK | X_OK) != 0)
        throw IoError(
            fmt::format("cannot write to the output folder '{}': {}; choose a folder that you may write to",
                        path.string(), std::generic_category().message(errno)));
}

void refuse_used_folder(const fs::path& folder, const fs::path& sign) {
    throw InvalidArgument(
        fmt::format("the output folder '{}' holds an earlier run ('{}'); choose another folder, "
                    "or continue that run with restart (--restart)",
                    folder.string(), sign.filename().string()));
}

} // namespace farfield
