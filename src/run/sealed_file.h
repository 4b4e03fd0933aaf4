// Checkpoints as files: two generations, each complete or absent, with a checksum of its content at the end,
// so that a reader (HDF5, which does not survive every damage) is shown nothing that has not been checked.
#pragma once

#include <farfield/error.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace farfield {

/// Names of the last checkpoint and of the one before it.
struct Generations {
    std::filesystem::path newest;
    std::filesystem::path previous;
};

/// Writes `newest` with a seal; the one before becomes `previous`. @throws IoError.
void write_sealed(const Generations& files, std::span<const std::byte> content);

/// The content without its seal. @throws IoError where the file cannot be read or the seal does not fit.
std::vector<std::byte> read_sealed(const std::filesystem::path& path);

/// The newest file that `read` accepts: the value of `read`, empty where there is none of the two. A damaged
/// one is told by `message`. @throws IoError where there are files but none can be read.
template <class Read>
auto read_newest(const Generations& files, const Read& read,
                 const std::function<void(const std::string&)>& message)
    -> std::optional<decltype(read(files.newest))> {
    std::string failures;
    for (const auto& path : {files.newest, files.previous}) {
        if (!std::filesystem::exists(path)) continue;
        try {
            auto content = read(path);
            if (path != files.newest)
                message((failures.empty() ? files.newest.filename().string() + " is missing" : failures) +
                        "; continuing from the one before it, '" + path.string() + "'");
            return content;
        } catch (const Error& error) {
            failures += (failures.empty() ? "" : "; ") + ("cannot use '" + path.string()) + "' (" +
                        error.what() + ")";
        }
    }
    if (failures.empty()) return std::nullopt;
    throw IoError(failures + "; remove the damaged checkpoints to restart from the beginning");
}

} // namespace farfield
