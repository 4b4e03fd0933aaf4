// Reading whole files, and the wording of the system's failures.
#include "io/file.h"

#include "io/messages.h"

#include <farfield/error.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace farfield {
namespace {

constexpr std::size_t longest_quote = 40;

std::string_view remedy_of(int error_number) {
    switch (error_number) {
    case ENOENT:
        return "check the name, and that its directory exists";
    case EACCES:
    case EPERM:
        return "check the permissions of the file and of its directory";
    case ENOSPC:
    case EDQUOT:
        return "free some space or write to another disk; files written earlier are intact";
    case EROFS:
        return "write to a directory that is not read-only";
    case EISDIR:
        return "give the name of a file, not of a directory";
    case ENOTDIR:
        return "a part of the path is a file, not a directory: correct the path";
    case EFBIG:
        return "raise the limit on file sizes (ulimit -f) or write to another disk";
    case EMFILE:
    case ENFILE:
        return "close other files or raise the limit on open files (ulimit -n)";
    default:
        return "check the path and the disk";
    }
}

class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    [[nodiscard]] int get() const { return fd_; }

private:
    int fd_;
};

} // namespace

std::string quoted(const std::filesystem::path& path) { return fmt::format("'{}'", path.string()); }

std::string printable(std::string_view text) {
    std::string out = "'";
    for (char c : text.substr(0, longest_quote)) out += c >= ' ' && c <= '~' ? c : '?';
    out += text.size() > longest_quote ? "...'" : "'";
    return out;
}

std::string system_failure(std::string_view action, const std::filesystem::path& path, int error_number) {
    return fmt::format("cannot {} {}: {}; {}", action, quoted(path),
                       std::generic_category().message(error_number), remedy_of(error_number));
}

std::vector<std::byte> read_file(const std::filesystem::path& path, std::size_t most) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) throw IoError(system_failure("open", path, errno));
    struct stat status {};
    constexpr std::size_t least_chunk = std::size_t{1} << 16U;
    std::size_t expected = least_chunk;
    // One byte more than the size tells the end without another allocation.
    if (::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode))
        expected = static_cast<std::size_t>(status.st_size) + 1;
    expected = std::clamp<std::size_t>(expected, 1, most);

    std::vector<std::byte> bytes;
    std::size_t used = 0;
    while (used < most) {
        if (used == bytes.size()) bytes.resize(std::min(most, std::max(expected, 2 * bytes.size())));
        const auto got = ::read(file.get(), bytes.data() + used, bytes.size() - used);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw IoError(system_failure("read", path, errno));
        if (got == 0) break;
        used += static_cast<std::size_t>(got);
    }
    bytes.resize(used);
    return bytes;
}

} // namespace farfield
