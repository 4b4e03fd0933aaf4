#include "dynamics/run/run_folder.h"

#include "io/output_folder.h"

#include <fmt/format.h>

namespace farfield {

namespace fs = std::filesystem;

RunFolder::RunFolder(fs::path path) : path_(std::move(path)) { open_output_folder(path_); }

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
