#include "io/atomic_file.h"

#include "io/file.h"
#include "unit/io/io_test.h"

#include <sys/resource.h>

#include <csignal>

using namespace farfield;
using namespace farfield::test;
namespace fs = std::filesystem;

namespace {

class AtomicFile : public IoTest {};

// Makes every write beyond `bytes` fail with EFBIG, as a disk that fills does with ENOSPC; undone at the end.
class FileSizeLimit {
public:
    explicit FileSizeLimit(rlim_t bytes) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        previous_ = std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;
    ~FileSizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, previous_);
    }

private:
    rlimit before_{};
    void (*previous_)(int) = nullptr;
};

} // namespace

TEST_F(AtomicFile, WritesAndReplaces) {
    write_file_atomically(file("a"), "first version, longer");
    write_file_atomically(file("a"), "second");
    EXPECT_EQ(content_of(file("a")), "second");
    EXPECT_FALSE(fs::exists(file("a.part")));
    EXPECT_EQ(as_text(read_file(file("a"))), "second");
}

TEST_F(AtomicFile, AFailedWriteLeavesTheEarlierFileAndNoPart) {
    write_file_atomically(file("a"), "earlier");
    {
        const FileSizeLimit limit(100);
        expect_error<IoError>([&] { write_file_atomically(file("a"), std::string(5000, 'x')); },
                              file("a").string(), "File too large");
    }
    EXPECT_EQ(content_of(file("a")), "earlier");
    EXPECT_FALSE(fs::exists(file("a.part")));
}

TEST_F(AtomicFile, AFullDeviceIsReported) {
    if (!fs::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
    expect_error<IoError>([] { write_file_atomically("/dev/full", "x"); }, "/dev/full",
                          "No space left on device", "free some space");
}

TEST_F(AtomicFile, AMissingDirectoryIsReported) {
    expect_error<IoError>([&] { write_file_atomically(file("none/a"), "x"); }, "none/a",
                          "No such file or directory", "directory exists");
}

TEST_F(AtomicFile, ADirectoryIsNotOverwritten) {
    fs::create_directories(file("d"));
    expect_error<IoError>([&] { write_file_atomically(file("d"), "x"); }, "Is a directory", "name of a file");
}

TEST_F(AtomicFile, FollowsASymbolicLink) {
    fs::create_directories(file("far"));
    write_file_atomically(file("far/a"), "old");
    fs::create_symlink(file("far/a"), file("link"));
    write_file_atomically(file("link"), "new");
    EXPECT_TRUE(fs::is_symlink(file("link")));
    EXPECT_EQ(content_of(file("far/a")), "new");
}

TEST_F(AtomicFile, ReadingWhatIsNotThereNamesIt) {
    expect_error<IoError>([&] { (void)read_file(file("none")); }, file("none").string(),
                          "No such file or directory", "check the name");
    expect_error<IoError>([&] { (void)read_file(file("")); }, "Is a directory");
}
