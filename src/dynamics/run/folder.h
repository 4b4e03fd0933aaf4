// The folder of a run of a case: the names of its files.
#pragma once

#include "run/output_folder.h"

#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

namespace farfield {

class RunFolder : public OutputFolder {
public:
    /// @throws as OutputFolder; InvalidArgument where an earlier run has left files and `restart` is false.
    RunFolder(std::filesystem::path path, bool restart);
    RunFolder(std::filesystem::path path, OfAnotherRank tag) : OutputFolder(std::move(path), tag) {}

    [[nodiscard]] std::filesystem::path case_file() const { return path() / "case.toml"; }
    [[nodiscard]] std::filesystem::path diagnostics() const { return path() / "diagnostics.csv"; }
    [[nodiscard]] std::filesystem::path diagnostics_picture() const { return path() / "diagnostics.png"; }
    [[nodiscard]] std::filesystem::path animation() const { return path() / "animation.png"; }
    [[nodiscard]] std::filesystem::path snapshot(std::uint64_t number) const;
    [[nodiscard]] std::filesystem::path picture(std::uint64_t number) const;

    /// The files that are there, of the first `snapshots` snapshots.
    [[nodiscard]] std::vector<std::filesystem::path> files(std::uint64_t snapshots) const;
};

} // namespace farfield
