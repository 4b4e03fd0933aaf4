// Files that are either complete or absent. Each system call is checked: a disk may report that it is full
// only at fsync or close (NFS, quotas, delayed allocation).
#include "io/atomic_file.h"

#include "io/file.h"
#include "io/messages.h"

#include <farfield/error.h>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

namespace farfield {
namespace {

namespace fs = std::filesystem;

class OutputFile {
public:
    OutputFile(fs::path written, fs::path named, int flags)
        : path_(std::move(written)), named_(std::move(named)), fd_(::open(path_.c_str(), flags, 0666)) {
        if (fd_ < 0) throw IoError(system_failure("write", named_, errno));
    }
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;
    ~OutputFile() {
        if (fd_ >= 0) ::close(fd_);
    }

    void write(std::span<const std::byte> bytes) {
        while (!bytes.empty()) {
            const auto done = ::write(fd_, bytes.data(), bytes.size());
            if (done < 0 && errno == EINTR) continue;
            if (done < 0) throw IoError(system_failure("write", named_, errno));
            bytes = bytes.subspan(static_cast<std::size_t>(done));
        }
    }
    void sync() {
        if (::fsync(fd_) != 0) throw IoError(system_failure("write", named_, errno));
    }
    void close() {
        const int fd = fd_;
        fd_ = -1;
        if (::close(fd) != 0 && errno != EINTR) throw IoError(system_failure("write", named_, errno));
    }

private:
    fs::path path_;
    fs::path named_; // what the user asked for: the name in messages
    int fd_;
};

// The rename itself must survive a power cut. Some file systems refuse to sync a directory: nothing to do.
void sync_directory(const fs::path& directory) {
    const int fd = ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    ::fsync(fd);
    ::close(fd);
}

} // namespace

void write_pieces_atomically(const fs::path& path, std::span<const std::span<const std::byte>> pieces) {
    std::error_code ignored;
    fs::path target = path;
    if (fs::is_symlink(path, ignored) && fs::exists(path, ignored)) target = fs::canonical(path, ignored);
    if (fs::exists(target, ignored) && !fs::is_regular_file(target, ignored)) {
        OutputFile file(target, path, O_WRONLY | O_CLOEXEC);
        for (auto piece : pieces) file.write(piece);
        file.close();
        return;
    }
    const fs::path part = target.string() + ".part";
    OutputFile file(part, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
    try {
        for (auto piece : pieces) file.write(piece);
        file.sync();
        file.close();
        if (std::rename(part.c_str(), target.c_str()) != 0)
            throw IoError(system_failure("write", path, errno));
    } catch (...) {
        fs::remove(part, ignored);
        throw;
    }
    sync_directory(target.parent_path());
}

void write_file_atomically(const fs::path& path, std::span<const std::byte> bytes) {
    write_pieces_atomically(path, std::array{bytes});
}

void write_file_atomically(const fs::path& path, std::string_view text) {
    write_file_atomically(path, as_byte_span(text));
}

} // namespace farfield
