// The folder of compiled code: who may use it, and how a file is known to be whole.
#include "backend/jit/cache_folder.h"

#include "backend/jit/sha256.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace farfield::jit {
namespace {

namespace fs = std::filesystem;

// Stands between content and check sum. A shared object may have anything behind its end.
constexpr std::string_view seal = "\nfarfield-sha256:";
constexpr std::size_t seal_size = seal.size() + 64;

std::string reason(int error) { return std::generic_category().message(error); }

fs::path usual_folder() {
    const auto variable = [](const char* name) {
        const char* value = std::getenv(name);
        return fs::path(value != nullptr ? value : "");
    };
    if (auto path = variable("FARFIELD_CACHE"); !path.empty()) return path;
    if (auto path = variable("XDG_CACHE_HOME"); !path.empty()) return path / "farfield";
    if (auto path = variable("HOME"); !path.empty()) return path / ".cache" / "farfield";
    return {};
}

// Why the folder cannot be used; empty where it can.
std::string objection(const fs::path& path) {
    if (path.empty()) return "none of FARFIELD_CACHE, XDG_CACHE_HOME and HOME is set";
    std::error_code failure;
    fs::create_directories(path.parent_path(), failure);
    if (mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST)
        return fmt::format("{} cannot be made: {}; set FARFIELD_CACHE to a folder of your own", path.string(),
                           reason(errno));
    struct stat info {};
    if (lstat(path.c_str(), &info) != 0)
        return fmt::format("{} cannot be examined: {}", path.string(), reason(errno));
    if (!S_ISDIR(info.st_mode))
        return fmt::format("{} is no folder; remove it or set FARFIELD_CACHE to a folder", path.string());
    if (info.st_uid != geteuid())
        return fmt::format("{} belongs to another user; set FARFIELD_CACHE to a folder of your own",
                           path.string());
    if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return fmt::format("{} is open to others; run: chmod 700 {}", path.string(), path.string());
    if (access(path.c_str(), W_OK | X_OK) != 0)
        return fmt::format("{} cannot be written; run: chmod 700 {}", path.string(), path.string());
    return {};
}

fs::path temporary_folder() {
    std::error_code failure;
    auto base = fs::temp_directory_path(failure);
    if (failure) base = "/tmp";
    std::string name = (base / "farfield-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
        throw IoError(fmt::format("no folder for compiled code can be made in {}: {}; set FARFIELD_CACHE or "
                                  "TMPDIR to a folder that can be written",
                                  base.string(), reason(errno)));
    return name;
}

} // namespace

CacheFolder CacheFolder::open() {
    auto path = usual_folder();
    auto note = objection(path);
    if (note.empty()) return {fs::absolute(path), {}};
    return {temporary_folder(), "nothing is kept for the next run: " + note};
}

CacheFolder::CacheFolder(CacheFolder&& other) noexcept
    : path_(std::move(other.path_)), note_(std::move(other.note_)) {
    other.note_.clear();
}

CacheFolder::~CacheFolder() {
    std::error_code ignored;
    if (!note_.empty()) fs::remove_all(path_, ignored);
}

std::optional<std::string> CacheFolder::read(std::string_view name) const {
    std::ifstream file(path_ / name, std::ios::binary);
    if (!file) return std::nullopt;
    std::string content{std::istreambuf_iterator<char>(file), {}};
    if (content.size() < seal_size) return std::nullopt;
    const auto size = content.size() - seal_size;
    const std::string_view whole = content;
    if (whole.substr(size, seal.size()) != seal) return std::nullopt;
    if (sha256_hex(whole.substr(0, size)) != whole.substr(size + seal.size())) return std::nullopt;
    content.resize(size);
    return content;
}

void CacheFolder::write(std::string_view name, std::string_view content) const {
    const auto part = unused_name("part");
    const auto fail = [&](const std::string& what) {
        std::error_code ignored;
        fs::remove(part, ignored);
        throw IoError(
            fmt::format("{} cannot be written: {}; free some space or set FARFIELD_CACHE to another folder",
                        (path_ / name).string(), what));
    };
    {
        std::ofstream file(part, std::ios::binary);
        file << content << seal << sha256_hex(content);
        file.flush();
        if (!file) fail(reason(errno));
    }
    std::error_code failure;
    fs::permissions(part, fs::perms::owner_all, failure);
    fs::rename(part, path_ / name, failure);
    if (failure) fail(failure.message());
}

fs::path CacheFolder::unused_name(std::string_view ending) const {
    static std::atomic<unsigned> counter{0};
    return path_ / fmt::format("tmp-{}-{}.{}", getpid(), counter++, ending);
}

} // namespace farfield::jit
