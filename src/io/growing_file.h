// A file that grows while a run goes on, and is cut back to a checkpoint on restart: a table of numbers, say.
// The open file is locked, so that a second run cannot write it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace farfield {

class GrowingFile {
public:
    /// Opens (or creates) the file and locks it; its content stays. @throws IoError; InvalidArgument where
    /// another run holds the lock.
    explicit GrowingFile(std::filesystem::path path);
    GrowingFile(const GrowingFile&) = delete;
    GrowingFile& operator=(const GrowingFile&) = delete;
    ~GrowingFile();

    /// Replaces the content.
    void begin(std::string_view header);
    /// Cuts the file back to its first `bytes` bytes. @throws IoError where it is shorter than that.
    void continue_from(std::uint64_t bytes);
    /// All of it or, where the disk is full, nothing. @throws IoError.
    void append(std::string_view text);
    void append(std::span<const std::byte> bytes);
    /// Makes everything durable and returns the length of the file.
    std::uint64_t sync();

private:
    [[noreturn]] void fail(const char* action, int error_number) const;
    void truncate(std::uint64_t bytes);

    std::filesystem::path path_;
    int descriptor_ = -1;
    bool created_ = false; ///< by this object: there was no such file
    std::uint64_t length_ = 0;
};

} // namespace farfield
