#include "stencil/run/folder.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace farfield {

namespace fs = std::filesystem;

StencilFolder::StencilFolder(fs::path path, bool earlier_allowed) : OutputFolder(std::move(path)) {
    if (!earlier_allowed) require_no_earlier_run(files(), ", or replace it with overwrite (--overwrite)");
    descriptor_ = open(this->path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    // File systems without locks (some network ones) are used without this protection.
    if (descriptor_ >= 0 && flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        close(descriptor_);
        throw InvalidArgument(fmt::format("another run is writing into '{}'; wait for it to end, or choose "
                                          "another output folder",
                                          this->path().string()));
    }
}

StencilFolder::~StencilFolder() {
    if (descriptor_ >= 0) close(descriptor_);
}

fs::path StencilFolder::field(std::string_view name, std::int64_t step) const {
    return path() / fmt::format("{}_{:08}.vtkhdf", name, step);
}

fs::path StencilFolder::frames(std::string_view field) const {
    return path() / fmt::format("{}.frames", field);
}

void StencilFolder::remove_earlier_run() const {
    for (const auto& file : files()) fs::remove(file);
}

std::vector<fs::path> StencilFolder::files() const {
    std::vector<fs::path> fields;
    for (const auto& entry : fs::directory_iterator(path()))
        if (entry.path().extension() == ".vtkhdf" || entry.path().extension() == ".frames")
            fields.push_back(entry.path());
    std::sort(fields.begin(), fields.end());
    std::vector<fs::path> all{program(), series()};
    all.insert(all.end(), fields.begin(), fields.end());
    const auto [newest, previous] = checkpoints();
    all.insert(all.end(), {newest, previous, summary()});
    return existing(std::move(all));
}

} // namespace farfield
