// The system compiler and its cache: every way in which a machine can be unlike the developer's.
#include "backend/jit/cache_folder.h"
#include "backend/jit/process.h"
#include "backend/jit/sha256.h"
#include "backend/jit/system_compiler.h"
#include "environment.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace farfield::jit {
namespace {

namespace fs = std::filesystem;
using test::Variable;

class Jit : public testing::Test {
protected:
    Jit() {
        std::string name = (fs::temp_directory_path() / "farfield-jit-XXXXXX").string();
        folder_ = mkdtemp(name.data());
        cache_ = folder_ / "cache";
    }
    ~Jit() override {
        fs::permissions(folder_, fs::perms::owner_all);
        fs::remove_all(folder_);
    }
    // A script that stands for a compiler.
    fs::path script(const std::string& text) const {
        const auto path = folder_ / "compiler.sh";
        std::ofstream(path) << "#!/bin/sh\n" << text;
        fs::permissions(path, fs::perms::owner_all);
        return path;
    }
    fs::path object_file() const {
        for (const auto& entry : fs::directory_iterator(cache_))
            if (entry.path().extension() == ".so") return entry.path();
        return {};
    }
    static int call(const Compiled& compiled) { return compiled.object->function<int()>("answer")(); }

    fs::path folder_;
    fs::path cache_;
};

const char* const source = "extern \"C\" int answer() { return 42; }\n";

TEST(Sha256, GivesTheStandardsExamples) {
    EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST_F(Jit, CompilesOnceAndThenLoadsFromTheCache) {
    const Variable cache("FARFIELD_CACHE", cache_.string());
    const auto first = compile_shared_object(source);
    EXPECT_FALSE(first.cached);
    EXPECT_EQ(call(first), 42);
    EXPECT_EQ(first.note, "");
    const auto start = std::chrono::steady_clock::now();
    const auto second = compile_shared_object(source);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    EXPECT_TRUE(second.cached);
    EXPECT_EQ(call(second), 42);
    EXPECT_LT(taken.count(), 0.02) << "reading the cache must not start a compiler";
    EXPECT_FALSE(compile_shared_object("extern \"C\" int answer() { return 43; }\n").cached);
    EXPECT_FALSE(compile_shared_object(source, {"-O1"}).cached);
}

TEST_F(Jit, MakesTheCacheFolderForItsOwnerAlone) {
    const Variable cache("FARFIELD_CACHE", cache_.string());
    compile_shared_object(source);
    struct stat info {};
    ASSERT_EQ(stat(cache_.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0700U);
}

TEST_F(Jit, RebuildsDamagedEntries) {
    const Variable cache("FARFIELD_CACHE", cache_.string());
    compile_shared_object(source);
    const auto whole = fs::file_size(object_file());
    fs::resize_file(object_file(), whole / 2);
    const auto after_cut = compile_shared_object(source);
    EXPECT_FALSE(after_cut.cached);
    EXPECT_EQ(call(after_cut), 42);
    EXPECT_EQ(fs::file_size(object_file()), whole);
    {
        std::fstream file(object_file(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(whole / 2));
        file.put('\x5a');
        file.put('\xa5');
    }
    EXPECT_FALSE(compile_shared_object(source).cached);
    EXPECT_TRUE(compile_shared_object(source).cached);
}

TEST_F(Jit, SaysThatThereIsNoCompiler) {
    const Variable cache("FARFIELD_CACHE", cache_.string());
    const Variable path("PATH", folder_.string());
    const Variable cxx("CXX", "g++");
    const Variable own("FARFIELD_CXX", "");
    try {
        compile_shared_object(source);
        FAIL();
    } catch (const CompilerMissing& error) {
        EXPECT_NE(std::string(error.what()).find("apt install g++"), std::string::npos) << error.what();
    }
    const Variable wrong("FARFIELD_CXX", "no-such-compiler");
    try {
        compile_shared_object(source);
        FAIL();
    } catch (const CompilerMissing& error) {
        EXPECT_NE(std::string(error.what()).find("no-such-compiler"), std::string::npos) << error.what();
    }
}

TEST_F(Jit, PassesOnTheCompilersWords) {
    const Variable cache("FARFIELD_CACHE", cache_.string());
    try {
        compile_shared_object("extern \"C\" int answer() { return nonsense; }\n");
        FAIL();
    } catch (const CompilerFailed& error) {
        EXPECT_NE(std::string(error.what()).find("nonsense"), std::string::npos) << error.what();
    }
    const Variable broken(
        "FARFIELD_CXX",
        script("[ \"$1\" = --version ] && echo fake 1.0 && exit 0\necho out of memory >&2\nexit 7\n")
            .string());
    try {
        compile_shared_object(source);
        FAIL();
    } catch (const CompilerFailed& error) {
        const std::string words = error.what();
        EXPECT_NE(words.find("out of memory"), std::string::npos) << words;
        EXPECT_NE(words.find("exit code 7"), std::string::npos) << words;
    }
    EXPECT_TRUE(object_file().empty()) << "a failure leaves nothing in the cache";
}

TEST_F(Jit, ReportsACompilerThatMakesNothing) {
    const Variable cache("FARFIELD_CACHE", cache_.string());
    const Variable silent("FARFIELD_CXX", script("exit 0\n").string());
    EXPECT_THROW(compile_shared_object(source), CompilerFailed);
}

TEST_F(Jit, AsksTheCompilerForItsVersionOnce) {
    const Variable cache("FARFIELD_CACHE", cache_.string());
    const auto log = (folder_ / "asked").string();
    const Variable counting("FARFIELD_CXX", script("[ \"$1\" = --version ] && echo fake 1.0 && echo x >> " +
                                                   log + " && exit 0\nexec c++ \"$@\"\n")
                                                .string());
    compile_shared_object(source);
    compile_shared_object("extern \"C\" int answer() { return 43; }\n");
    EXPECT_EQ(fs::file_size(log), 2U) << "asked more than once";
    // A new compiler in the same place counts as another one.
    std::ofstream(folder_ / "compiler.sh", std::ios::app) << "# updated\n";
    compile_shared_object(source);
    EXPECT_EQ(fs::file_size(log), 4U);
}

// What is done where the usual folder cannot serve: the code runs, from a folder that is gone at the end.
void expect_note(const std::string& word) {
    const auto compiled = compile_shared_object(source);
    EXPECT_FALSE(compiled.cached);
    EXPECT_EQ(compiled.object->function<int()>("answer")(), 42);
    EXPECT_NE(compiled.note.find(word), std::string::npos) << compiled.note;
}

TEST_F(Jit, DoesWithoutACacheThatOthersMayUse) {
    const Variable cache("FARFIELD_CACHE", cache_.string());
    fs::create_directory(cache_);
    fs::permissions(cache_, fs::perms::owner_all | fs::perms::group_write);
    expect_note("chmod 700");
    EXPECT_TRUE(fs::is_empty(cache_));
}

TEST_F(Jit, DoesWithoutACacheOfSomeoneElse) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
    const Variable cache("FARFIELD_CACHE", cache_.string());
    fs::create_directory(cache_);
    fs::permissions(cache_, fs::perms::owner_all);
    ASSERT_EQ(chown(cache_.c_str(), 65534, 65534), 0);
    expect_note("belongs to another user");
}

TEST_F(Jit, DoesWithoutACacheThatCannotBeMade) {
    std::ofstream(folder_ / "file") << "no folder";
    {
        const Variable cache("FARFIELD_CACHE", (folder_ / "file" / "cache").string());
        expect_note("cannot be made");
    }
    const Variable cache("FARFIELD_CACHE", (folder_ / "file").string());
    expect_note("is no folder");
}

TEST_F(Jit, DoesWithoutACacheThatCannotBeWritten) {
    if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
    const Variable cache("FARFIELD_CACHE", cache_.string());
    fs::create_directory(cache_);
    fs::permissions(cache_, fs::perms::owner_read | fs::perms::owner_exec);
    expect_note("cannot be written");
    fs::permissions(cache_, fs::perms::owner_all);
}

TEST_F(Jit, DoesNotFollowALinkInPlaceOfTheCache) {
    fs::create_directory(folder_ / "elsewhere");
    fs::create_symlink(folder_ / "elsewhere", cache_);
    const Variable cache("FARFIELD_CACHE", cache_.string());
    expect_note("is no folder");
}

TEST_F(Jit, ServesTwoProcessesAtOnce) {
    const Variable cache("FARFIELD_CACHE", cache_.string());
    constexpr int processes = 4;
    pid_t children[processes] = {};
    for (auto& child : children) {
        child = fork();
        if (child == 0) {
            int wrong = 0;
            try {
                wrong = call(compile_shared_object(source)) == 42 ? 0 : 1;
            } catch (const std::exception&) {
                wrong = 2;
            }
            _exit(wrong);
        }
    }
    for (const auto child : children) {
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    }
    EXPECT_TRUE(compile_shared_object(source).cached);
    for (const auto& entry : fs::directory_iterator(cache_))
        EXPECT_NE(entry.path().filename().string().rfind("tmp-", 0), 0U)
            << entry.path() << " was left behind";
}

TEST(Process, FindsNoFoldersAndRunsNothingFromTheCurrentFolder) {
    EXPECT_FALSE(find_program("/tmp"));
    EXPECT_FALSE(find_program("no-such-program"));
    EXPECT_TRUE(find_program("sh"));
}

TEST(Process, ReportsExitCodesAndSignals) {
    const auto sh = find_program("sh")->string();
    EXPECT_EQ(run_process({sh, "-c", "echo a; echo b >&2; exit 3"}).exit_code, 3);
    EXPECT_EQ(run_process({sh, "-c", "echo a; echo b >&2"}).output, "a\nb\n");
    EXPECT_EQ(run_process({sh, "-c", "kill -9 $$"}).exit_code, 137);
    EXPECT_THROW(run_process({"/no/such/program"}), IoError);
}

} // namespace
} // namespace farfield::jit
