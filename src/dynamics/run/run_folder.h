// The folder of a run: the names of its files, and whether an earlier run has left some.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace farfield {

class RunFolder {
public:
    /// Creates the folder if it is missing. @throws IoError where it cannot be created or written to.
    explicit RunFolder(std::filesystem::path path);

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::filesystem::path case_file() const { return path_ / "case.toml"; }
    [[nodiscard]] std::filesystem::path diagnostics() const { return path_ / "diagnostics.csv"; }
    [[nodiscard]] std::filesystem::path diagnostics_picture() const { return path_ / "diagnostics.png"; }
    [[nodiscard]] std::filesystem::path checkpoint() const { return path_ / "checkpoint.h5"; }
    [[nodiscard]] std::filesystem::path previous_checkpoint() const {
        return path_ / "checkpoint.previous.h5";
    }
    [[nodiscard]] std::filesystem::path summary() const { return path_ / "summary.json"; }
    [[nodiscard]] std::filesystem::path snapshot(std::uint64_t number) const;
    [[nodiscard]] std::filesystem::path picture(std::uint64_t number) const;

    /// A file of an earlier run, or an empty path.
    [[nodiscard]] std::filesystem::path sign_of_earlier_run() const;
    /// The files that are there, of the first `snapshots` snapshots.
    [[nodiscard]] std::vector<std::filesystem::path> files(std::uint64_t snapshots) const;

private:
    std::filesystem::path path_;
};

} // namespace farfield
