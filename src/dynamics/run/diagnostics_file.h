// diagnostics.csv while a run writes it: rows are appended, and cut back to a checkpoint on restart. The open
// file is locked, so that a second run cannot write into the same folder.
#pragma once

#include <farfield/simulation.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace farfield {

class DiagnosticsFile {
public:
    /// Opens (or creates) the file and locks it; its content stays. @throws IoError; InvalidArgument where
    /// another run holds the lock.
    explicit DiagnosticsFile(std::filesystem::path path);
    DiagnosticsFile(const DiagnosticsFile&) = delete;
    DiagnosticsFile& operator=(const DiagnosticsFile&) = delete;
    ~DiagnosticsFile();

    /// Empties the file and writes the header.
    void begin();
    /// Cuts the file back to its first `bytes` bytes. @throws IoError where it is shorter than that.
    void continue_from(std::uint64_t bytes);
    void append(const Diagnostics& row);
    /// Makes all rows durable and returns the length of the file.
    std::uint64_t sync();

private:
    [[noreturn]] void fail(const char* action, int error_number) const;
    void truncate(std::uint64_t bytes);
    void write(const std::string& text);

    std::filesystem::path path_;
    int descriptor_ = -1;
    std::uint64_t length_ = 0;
};

} // namespace farfield
