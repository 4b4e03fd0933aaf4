#include "dynamics/run/run_folder.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <system_error>
#include <unistd.h>

namespace farfield {

namespace fs = std::filesystem;

RunFolder::RunFolder(fs::path path) : path_(std::move(path)) {
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

fs::path RunFolder::snapshot(std::uint64_t number) const {
    return path_ / fmt::format("snapshot_{:04}.h5", number);
}

fs::path RunFolder::picture(std::uint64_t number) const {
    return path_ / fmt::format("snapshot_{:04}.png", number);
}

fs::path RunFolder::sign_of_earlier_run() const {
    for (const auto& file :
         {checkpoint(), previous_checkpoint(), diagnostics(), summary(), case_file(), snapshot(0)})
        if (fs::exists(file)) return file;
    return {};
}

std::vector<fs::path> RunFolder::files(std::uint64_t snapshots) const {
    std::vector<fs::path> all{case_file(),  diagnostics(),         diagnostics_picture(),
                              checkpoint(), previous_checkpoint(), summary()};
    for (std::uint64_t i = 0; i < snapshots; ++i) {
        all.push_back(snapshot(i));
        all.push_back(picture(i));
    }
    std::erase_if(all, [](const fs::path& file) { return !fs::exists(file); });
    return all;
}

} // namespace farfield
