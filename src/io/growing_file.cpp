#include "io/growing_file.h"

#include "io/file.h"
#include "io/messages.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace farfield {

GrowingFile::GrowingFile(std::filesystem::path path) : path_(std::move(path)) {
    descriptor_ = open(path_.c_str(), O_RDWR | O_CLOEXEC);
    created_ = descriptor_ < 0 && errno == ENOENT;
    if (created_) descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail("open", errno);
    // File systems without locks (some network ones) are used without this protection.
    if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        close(descriptor_);
        throw InvalidArgument(
            fmt::format("'{}' is being written by another run; wait for it to end, or choose "
                        "another output folder",
                        path_.string()));
    }
}

GrowingFile::~GrowingFile() { close(descriptor_); }

void GrowingFile::begin(std::string_view header) {
    created_ = false; // from now on it holds what was written here
    truncate(0);
    append(header);
}

void GrowingFile::continue_from(std::uint64_t bytes) {
    if (created_ && bytes > 0) {
        unlink(path_.c_str()); // it was not there before
        throw IoError(fmt::format(
            "'{}' is missing, but the checkpoint counts on its first {} bytes; put the file back, "
            "or begin a new run in another folder",
            path_.string(), bytes));
    }
    const auto end = lseek(descriptor_, 0, SEEK_END);
    if (end < 0) fail("read", errno);
    if (static_cast<std::uint64_t>(end) < bytes)
        throw IoError(
            fmt::format("'{}' has {} bytes, but the checkpoint counts on {}: rows have been lost; put the "
                        "file back, or begin a new run in another folder",
                        path_.string(), end, bytes));
    truncate(bytes);
}

void GrowingFile::append(std::string_view text) { append(as_byte_span(text)); }

// What does not fit on the disk leaves no part of itself behind.
void GrowingFile::append(std::span<const std::byte> bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const auto written =
            pwrite(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(length_ + done));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
            const int error_number = errno;
            [[maybe_unused]] const int ignored = ftruncate(descriptor_, static_cast<off_t>(length_));
            fail("write", error_number);
        }
        done += static_cast<std::size_t>(written);
    }
    length_ += bytes.size();
}

std::uint64_t GrowingFile::sync() {
    if (fsync(descriptor_) != 0) fail("write", errno);
    return length_;
}

void GrowingFile::fail(const char* action, int error_number) const {
    throw IoError(system_failure(action, path_, error_number));
}

void GrowingFile::truncate(std::uint64_t bytes) {
    if (ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) fail("write", errno);
    length_ = bytes;
}

} // namespace farfield
