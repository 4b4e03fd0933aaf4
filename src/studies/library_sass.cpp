// Runs cuobjdump on the file that holds the library: the program itself where it is linked statically.
#include "studies/sass.h"

#include <farfield/version.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

namespace farfield {
namespace {

namespace fs = std::filesystem;

fs::path library_file() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(&version), &info) != 0 && info.dli_fname != nullptr) {
        fs::path file = info.dli_fname;
        if (file.extension() == ".so" || file.string().find(".so.") != std::string::npos) return file;
    }
    std::error_code ignored;
    return fs::read_symlink("/proc/self/exe", ignored); // argv[0] may be no path
}

fs::path cuobjdump() {
    std::vector<fs::path> folders;
    if (const char* path = std::getenv("PATH"); path != nullptr) {
        std::istringstream parts(path);
        for (std::string part; std::getline(parts, part, ':');) folders.emplace_back(part);
    }
    if (const char* home = std::getenv("CUDA_HOME"); home != nullptr)
        folders.push_back(fs::path(home) / "bin");
    folders.emplace_back("/usr/local/cuda/bin");
    for (const auto& folder : folders)
        if (::access((folder / "cuobjdump").c_str(), X_OK) == 0) return folder / "cuobjdump";
    return {};
}

// What the program prints; what it complains of goes nowhere. Empty where it cannot be run.
std::string output_of(const fs::path& program, std::vector<std::string> arguments) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
    arguments.insert(arguments.begin(), program.string());
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    const int failed = posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    std::string text;
    if (failed == 0) {
        std::array<char, 65536> piece{};
        for (ssize_t got = 0; (got = ::read(ends[0], piece.data(), piece.size())) > 0;)
            text.append(piece.data(), static_cast<std::size_t>(got));
        int status = 0;
        ::waitpid(child, &status, 0);
    }
    ::close(ends[0]);
    return text;
}

} // namespace

LoopCounts library_pair_loops() {
    const auto tool = cuobjdump();
    const auto file = library_file();
    if (tool.empty() || file.empty()) return {};
    std::istringstream text(output_of(tool, {"-sass", file.string()}));
    return pair_loops(text);
}

InstructionMixes library_mixes(const std::vector<std::string>& kernels) {
    const auto tool = cuobjdump();
    const auto file = library_file();
    if (tool.empty() || file.empty() || kernels.empty()) return {};
    std::string names;
    for (const auto& kernel : kernels) names += (names.empty() ? "" : ",") + kernel;
    std::istringstream text(output_of(tool, {"-fun", names, "-sass", file.string()}));
    return main_mixes(text);
}

} // namespace farfield
