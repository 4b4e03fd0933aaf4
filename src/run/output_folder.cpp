#include "run/output_folder.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <cerrno>
#include <system_error>
#include <unistd.h>

namespace farfield {

namespace fs = std::filesystem;

OutputFolder::OutputFolder(fs::path path) : path_(std::move(path)) {
    if (path_.empty())
        throw InvalidArgument("the output folder has an empty name; name a folder for the results");
    std::error_code error;
    fs::create_directories(path_, error);
    if (error || !fs::is_directory(path_))
        throw IoError(
            fmt::format("cannot create the output folder '{}': {}; choose a folder that you may write to",
                        path_.string(), error ? error.message() : "there is a file of that name"));
    if (access(path_.c_str(), W_OK | X_OK) != 0)
        throw IoError(
            fmt::format("cannot write to the output folder '{}': {}; choose a folder that you may write to",
                        path_.string(), std::generic_category().message(errno)));
}

void OutputFolder::require_no_earlier_run(const std::vector<fs::path>& files, std::string_view remedy) const {
    const auto found = existing(files);
    if (found.empty()) return;
    throw InvalidArgument(
        fmt::format("the output folder '{}' holds an earlier run ('{}'); choose another folder, "
                    "or continue that run with restart (--restart){}",
                    path_.string(), found.front().filename().string(), remedy));
}

std::vector<fs::path> existing(std::vector<fs::path> files) {
    std::erase_if(files, [](const fs::path& file) { return !fs::exists(file); });
    return files;
}

} // namespace farfield
