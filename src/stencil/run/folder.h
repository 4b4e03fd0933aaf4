// The folder of a stencil run: the names of its files.
#pragma once

#include "io/sealed_file.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace farfield {

class StencilFolder {
public:
    /// Creates the folder if it is missing and locks it. @throws InvalidArgument where another run works in
    /// it, or an earlier one has left files and `restart` is false; IoError.
    StencilFolder(std::filesystem::path path, bool restart);
    StencilFolder(const StencilFolder&) = delete;
    StencilFolder& operator=(const StencilFolder&) = delete;
    ~StencilFolder();

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::filesystem::path program() const { return path_ / "program.ff"; }
    [[nodiscard]] std::filesystem::path series() const { return path_ / "series.csv"; }
    [[nodiscard]] std::filesystem::path summary() const { return path_ / "summary.json"; }
    [[nodiscard]] Generations checkpoints() const {
        return {path_ / "checkpoint.h5", path_ / "checkpoint.previous.h5"};
    }
    /// FIELD_NNNNNNNN.vtkhdf with the number of steps done.
    [[nodiscard]] std::filesystem::path field(std::string_view name, std::int64_t step) const;
    /// The frames of an animation so far.
    [[nodiscard]] std::filesystem::path frames(std::string_view field) const;
    /// Every file of a run that is there, in the order of names, checkpoints and summary last.
    [[nodiscard]] std::vector<std::filesystem::path> files() const;

private:
    std::filesystem::path path_;
    int descriptor_ = -1;
};

} // namespace farfield
