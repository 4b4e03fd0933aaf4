#include "dynamics/run/folder.h"

#include <fmt/format.h>

namespace farfield {

namespace fs = std::filesystem;

RunFolder::RunFolder(fs::path path, bool restart) : OutputFolder(std::move(path)) {
    if (restart) return;
    const auto [newest, previous] = checkpoints();
    require_no_earlier_run({newest, previous, diagnostics(), summary(), case_file(), snapshot(0)});
}

fs::path RunFolder::snapshot(std::uint64_t number) const {
    return path() / fmt::format("snapshot_{:04}.h5", number);
}

fs::path RunFolder::picture(std::uint64_t number) const {
    return path() / fmt::format("snapshot_{:04}.png", number);
}

std::vector<fs::path> RunFolder::files(std::uint64_t snapshots) const {
    const auto [newest, previous] = checkpoints();
    std::vector<fs::path> all{case_file(), diagnostics(), diagnostics_picture(), animation(), newest,
                              previous,    summary()};
    for (std::uint64_t i = 0; i < snapshots; ++i) {
        all.push_back(snapshot(i));
        all.push_back(picture(i));
    }
    return existing(std::move(all));
}

} // namespace farfield
