// The folder of compiled code: ours alone, every file either whole or rebuilt.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace farfield::jit {

/// $FARFIELD_CACHE, or farfield in $XDG_CACHE_HOME, or .cache/farfield in $HOME. It is made with mode 0700. A
/// folder that belongs to someone else, that others may use, or that cannot be written is not used: then a
/// private folder for temporary files takes its place, which is removed at the end, and `note` says why.
///
/// Files are written under another name and renamed, so that processes can share the folder; at the end of
/// each stands its check sum.
class CacheFolder {
public:
    /// @throws IoError where not even a temporary folder can be made.
    static CacheFolder open();
    CacheFolder(CacheFolder&& other) noexcept;
    CacheFolder& operator=(CacheFolder&&) = delete;
    ~CacheFolder();

    const std::filesystem::path& path() const { return path_; }
    /// Why the usual folder is not used; empty where it is.
    const std::string& note() const { return note_; }

    /// The content of a file; nothing where there is none or where it is damaged.
    std::optional<std::string> read(std::string_view name) const;
    /// @throws IoError.
    void write(std::string_view name, std::string_view content) const;
    /// A name in the folder that no other process uses.
    std::filesystem::path unused_name(std::string_view ending) const;

private:
    CacheFolder(std::filesystem::path path, std::string note)
        : path_(std::move(path)), note_(std::move(note)) {}
    std::filesystem::path path_;
    std::string note_;
};

} // namespace farfield::jit
