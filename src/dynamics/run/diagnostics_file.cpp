#include "dynamics/run/diagnostics_file.h"

#include "io/csv.h"
#include "io/messages.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <sys/file.h>
#include <unistd.h>

namespace farfield {
namespace {

constexpr std::string_view header = "time,kinetic,potential,total,relative_energy_error,px,py,pz,lx,ly,lz,"
                                    "virial_ratio,r10,r50,r90\n";

std::string text_of(const Diagnostics& d) {
    const std::array<double, 15> values{d.time,
                                        d.kinetic,
                                        d.potential,
                                        d.total,
                                        d.relative_energy_error,
                                        d.momentum[0],
                                        d.momentum[1],
                                        d.momentum[2],
                                        d.angular_momentum[0],
                                        d.angular_momentum[1],
                                        d.angular_momentum[2],
                                        d.virial_ratio,
                                        d.lagrangian_radii[0],
                                        d.lagrangian_radii[1],
                                        d.lagrangian_radii[2]};
    return format_csv_row(values) + '\n';
}

} // namespace

DiagnosticsFile::DiagnosticsFile(std::filesystem::path path) : path_(std::move(path)) {
    descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
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

DiagnosticsFile::~DiagnosticsFile() { close(descriptor_); }

void DiagnosticsFile::begin() {
    truncate(0);
    write(std::string(header));
}

void DiagnosticsFile::continue_from(std::uint64_t bytes) {
    const auto end = lseek(descriptor_, 0, SEEK_END);
    if (end < 0) fail("read", errno);
    if (static_cast<std::uint64_t>(end) < bytes)
        throw IoError(
            fmt::format("'{}' has {} bytes, but the checkpoint counts on {}: rows have been lost; put the "
                        "file back, or begin a new run in another folder",
                        path_.string(), end, bytes));
    truncate(bytes);
}

void DiagnosticsFile::append(const Diagnostics& row) { write(text_of(row)); }

std::uint64_t DiagnosticsFile::sync() {
    if (fsync(descriptor_) != 0) fail("write", errno);
    return length_;
}

void DiagnosticsFile::fail(const char* action, int error_number) const {
    throw IoError(system_failure(action, path_, error_number));
}

void DiagnosticsFile::truncate(std::uint64_t bytes) {
    if (ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) fail("write", errno);
    length_ = bytes;
}

// A row that does not fit on the disk leaves no part of itself behind.
void DiagnosticsFile::write(const std::string& text) {
    std::size_t done = 0;
    while (done < text.size()) {
        const auto written =
            pwrite(descriptor_, text.data() + done, text.size() - done, static_cast<off_t>(length_ + done));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
            const int error_number = errno;
            [[maybe_unused]] const int ignored = ftruncate(descriptor_, static_cast<off_t>(length_));
            fail("write", error_number);
        }
        done += static_cast<std::size_t>(written);
    }
    length_ += text.size();
}

} // namespace farfield
