// The folder that a run writes into: what every run leaves there, and the refusal of an earlier run's folder.
#pragma once

#include "run/sealed_file.h"

#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

namespace farfield {

class OutputFolder {
public:
    /// Creates the folder if it is missing. @throws InvalidArgument for an empty name, IoError where it
    /// cannot be created or written to.
    explicit OutputFolder(std::filesystem::path path);
    /// A folder that another rank has created and writes into: nothing is looked at.
    struct OfAnotherRank {};
    OutputFolder(std::filesystem::path path, OfAnotherRank /*unused*/) : path_(std::move(path)) {}

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::filesystem::path summary() const { return path_ / "summary.json"; }
    [[nodiscard]] Generations checkpoints() const {
        return {path_ / "checkpoint.h5", path_ / "checkpoint.previous.h5"};
    }
    /// For a run that is no restart. @throws InvalidArgument where one of `files` is there: an earlier run
    /// has left it. `remedy` ends the message.
    void require_no_earlier_run(const std::vector<std::filesystem::path>& files,
                                std::string_view remedy = {}) const;

private:
    std::filesystem::path path_;
};

/// Those of `files` that are there, in their order.
std::vector<std::filesystem::path> existing(std::vector<std::filesystem::path> files);

} // namespace farfield
