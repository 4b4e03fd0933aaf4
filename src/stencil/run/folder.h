// The folder of a stencil run: the names of its files.
#pragma once

#include "run/output_folder.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace farfield {

class StencilFolder : public OutputFolder {
public:
    /// Locks the folder. @throws as OutputFolder; InvalidArgument where another run works in it, or an
    /// earlier one has left files and `earlier_allowed` is false.
    StencilFolder(std::filesystem::path path, bool earlier_allowed);
    StencilFolder(const StencilFolder&) = delete;
    StencilFolder& operator=(const StencilFolder&) = delete;
    ~StencilFolder();

    [[nodiscard]] std::filesystem::path program() const { return path() / "program.ff"; }
    [[nodiscard]] std::filesystem::path series() const { return path() / "series.csv"; }
    /// FIELD_NNNNNNNN.vtkhdf with the number of steps done.
    [[nodiscard]] std::filesystem::path field(std::string_view name, std::int64_t step) const;
    /// The frames of an animation so far.
    [[nodiscard]] std::filesystem::path frames(std::string_view field) const;
    /// Every file of a run that is there, in the order of names, checkpoints and summary last.
    [[nodiscard]] std::vector<std::filesystem::path> files() const;
    /// Removes files().
    void remove_earlier_run() const;

private:
    int descriptor_ = -1;
};

} // namespace farfield
