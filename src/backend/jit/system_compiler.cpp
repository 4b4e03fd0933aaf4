// The system's compiler: where it is, what its objects depend on, and the way of a source into the cache.
#include "backend/jit/system_compiler.h"

#include "backend/jit/process.h"
#include "backend/jit/sha256.h"

#include <farfield/version.h>

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <sys/stat.h>
#include <system_error>

namespace farfield::jit {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view remedy =
    "install one (Debian, Ubuntu: apt install g++), or set FARFIELD_CXX to its path";

// Removes a file at the end, whatever happens.
class Removed {
public:
    explicit Removed(fs::path path) : path_(std::move(path)) {}
    ~Removed() {
        std::error_code ignored;
        fs::remove(path_, ignored);
    }
    Removed(const Removed&) = delete;
    Removed& operator=(const Removed&) = delete;
    const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

fs::path compiler_path() {
    if (const char* name = std::getenv("FARFIELD_CXX"); name != nullptr && *name != '\0') {
        if (auto path = find_program(name)) return *path;
        throw CompilerMissing(
            fmt::format("FARFIELD_CXX is '{}', which is no program; set it to the path of a C++ "
                        "compiler, or unset it",
                        name));
    }
    // CXX may hold words of a build system, such as "ccache g++": then it names no program.
    const char* variable = std::getenv("CXX");
    for (const std::string_view name :
         {std::string_view(variable != nullptr ? variable : ""), std::string_view("c++"),
          std::string_view("g++"), std::string_view("clang++")})
        if (!name.empty())
            if (auto path = find_program(name)) return *path;
    throw CompilerMissing(
        fmt::format("there is no C++ compiler: neither c++, g++ nor clang++ is in PATH; {}", remedy));
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string ask_version(const fs::path& path) {
    ProcessResult result;
    try {
        result = run_process({path.string(), "--version"});
    } catch (const IoError& error) {
        throw CompilerMissing(fmt::format("the C++ compiler {}; {}", error.what(), remedy));
    }
    if (result.exit_code != 0)
        throw CompilerFailed(
            fmt::format("the C++ compiler {} fails when asked for its version (exit code {}): {}",
                        path.string(), result.exit_code, first_line(result.output)));
    return first_line(result.output);
}

// The lines of /proc/cpuinfo that -march=native and -mtune=native depend on, of the first processor.
std::string processor() {
    std::ifstream file("/proc/cpuinfo");
    std::string text;
    for (std::string line; std::getline(file, line) && !line.empty();) {
        const auto starts = [&](std::string_view word) { return line.rfind(word, 0) == 0; };
        if (starts("model") || starts("cpu family") || starts("vendor_id") || starts("flags") ||
            starts("Features") || starts("CPU part"))
            text += line + "\n";
    }
    return text;
}

std::string key_of(std::string_view source, const std::vector<std::string>& flags,
                   const SystemCompiler& compiler) {
    Sha256 hash;
    hash.add_field(source);
    for (const auto& flag : flags) hash.add_field(flag);
    hash.add_field(compiler.path.string());
    hash.add_field(compiler.version);
    hash.add_field(processor());
    hash.add_field(version());
    return hash.hex().substr(0, 32);
}

// The compiler's words, without the names of temporary files' folders and not endless.
std::string complaint(const std::string& output) {
    constexpr std::size_t most = 2000;
    return output.size() <= most ? output : output.substr(0, most) + "\n…";
}

std::string compile(std::string_view source, const std::vector<std::string>& flags,
                    const SystemCompiler& compiler, const CacheFolder& cache) {
    const Removed input(cache.unused_name("cpp"));
    const Removed output(cache.unused_name("so"));
    std::ofstream(input.path(), std::ios::binary) << source;
    std::vector<std::string> argv{
        compiler.path.string(), "-x", "c++", "-std=c++17", "-shared", "-fPIC", "-w"};
    argv.insert(argv.end(), flags.begin(), flags.end());
    argv.insert(argv.end(), {"-o", output.path().string(), input.path().string()});
    const auto result = run_process(argv);
    if (result.exit_code != 0)
        throw CompilerFailed(
            fmt::format("the C++ compiler {} does not compile generated code (exit code {}):\n{}",
                        compiler.path.string(), result.exit_code, complaint(result.output)));
    std::ifstream file(output.path(), std::ios::binary);
    if (!file)
        throw CompilerFailed(
            fmt::format("the C++ compiler {} says nothing and makes nothing; set FARFIELD_CXX to "
                        "another one",
                        compiler.path.string()));
    return {std::istreambuf_iterator<char>(file), {}};
}

// Loads an object of the cache where it is whole.
std::shared_ptr<const SharedObject> load(const CacheFolder& cache, const std::string& name) {
    if (!cache.read(name)) return nullptr;
    try {
        return std::make_shared<const SharedObject>(cache.path() / name);
    } catch (const IoError&) {
        return nullptr; // made for another system: it is built again, and that error counts
    }
}

} // namespace

SystemCompiler find_system_compiler(const CacheFolder& cache) {
    SystemCompiler compiler{compiler_path(), {}};
    struct stat info {};
    stat(compiler.path.c_str(), &info);
    const auto stamp = fmt::format("{} {} {}.{:09} {}\n", compiler.path.string(), info.st_size,
                                   info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_ino);
    const auto name = "compiler-" + sha256_hex(compiler.path.string()).substr(0, 16);
    if (const auto known = cache.read(name); known && known->rfind(stamp, 0) == 0) {
        compiler.version = known->substr(stamp.size());
        return compiler;
    }
    compiler.version = ask_version(compiler.path);
    cache.write(name, stamp + compiler.version);
    return compiler;
}

std::vector<std::string> native_flags() {
    std::vector<std::string> flags{"-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"};
#if defined(__aarch64__)
    flags.emplace_back("-mcpu=native");
#else
    flags.emplace_back("-march=native");
#endif
#if defined(__x86_64__)
    // Compilers that do not know a processor prefer half its width.
    flags.emplace_back("-mprefer-vector-width=512");
#endif
    return flags;
}

Compiled compile_shared_object(std::string_view source, const std::vector<std::string>& flags) {
    const auto cache = CacheFolder::open();
    const auto compiler = find_system_compiler(cache);
    const auto name = key_of(source, flags, compiler) + ".so";
    Compiled out;
    out.compiler = compiler.version;
    out.note = cache.note();
    out.object = load(cache, name);
    out.cached = out.object != nullptr;
    if (out.cached) return out;
    const auto start = std::chrono::steady_clock::now();
    cache.write(name, compile(source, flags, compiler, cache));
    out.object = std::make_shared<const SharedObject>(cache.path() / name);
    out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return out;
}

} // namespace farfield::jit
