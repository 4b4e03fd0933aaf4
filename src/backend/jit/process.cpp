// posix_spawn with a pipe for what the program says.
#include "backend/jit/process.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

extern char** environ; // NOLINT(readability-redundant-declaration): not every libc declares it

namespace farfield::jit {
namespace {

constexpr std::size_t most_output = 1U << 20U;

[[noreturn]] void fail(const std::string& program, int error) {
    throw IoError(fmt::format("{} cannot be started: {}; check that it is installed and may be executed",
                              program, std::generic_category().message(error)));
}

// Owns the file actions of a spawn.
class Actions {
public:
    explicit Actions(int write_end) {
        posix_spawn_file_actions_init(&actions_);
        posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions_, write_end, STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&actions_, write_end, STDERR_FILENO);
    }
    ~Actions() { posix_spawn_file_actions_destroy(&actions_); }
    Actions(const Actions&) = delete;
    Actions& operator=(const Actions&) = delete;
    const posix_spawn_file_actions_t* get() const { return &actions_; }

private:
    posix_spawn_file_actions_t actions_{};
};

std::string read_all(int descriptor) {
    std::string text;
    std::array<char, 4096> piece{};
    for (;;) {
        const auto count = read(descriptor, piece.data(), piece.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return text;
        if (text.size() < most_output) text.append(piece.data(), static_cast<std::size_t>(count));
    }
}

} // namespace

ProcessResult run_process(const std::vector<std::string>& argv) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) fail(argv[0], errno);
    std::vector<char*> words;
    words.reserve(argv.size() + 1);
    for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    pid_t child = 0;
    const Actions actions(ends[1]);
    const int error = posix_spawn(&child, argv[0].c_str(), actions.get(), nullptr, words.data(), environ);
    close(ends[1]);
    if (error != 0) {
        close(ends[0]);
        fail(argv[0], error);
    }
    ProcessResult result;
    result.output = read_all(ends[0]);
    close(ends[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) fail(argv[0], errno);
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return result;
}

std::optional<std::filesystem::path> find_program(std::string_view name) {
    const auto usable = [](const std::filesystem::path& path) {
        std::error_code ignored;
        return std::filesystem::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
    };
    if (name.find('/') != std::string_view::npos) {
        std::filesystem::path path(name);
        return usable(path) ? std::optional(path) : std::nullopt;
    }
    const char* variable = std::getenv("PATH");
    const std::string_view folders = variable != nullptr ? variable : "/usr/bin:/bin";
    for (std::size_t start = 0; start <= folders.size();) {
        const auto colon = std::min(folders.find(':', start), folders.size());
        // An empty entry means the current folder; nothing is run from there by accident.
        if (colon > start) {
            auto path = std::filesystem::path(folders.substr(start, colon - start)) / name;
            if (usable(path)) return path;
        }
        start = colon + 1;
    }
    return std::nullopt;
}

} // namespace farfield::jit
