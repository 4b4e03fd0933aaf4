// By dlopen and dlsym.
#include "backend/jit/cuda_library.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <dlfcn.h>

namespace farfield::jit {

std::vector<std::string> cuda_library_paths(const char* variable, std::span<const char* const> names) {
    if (const char* file = std::getenv(variable); file != nullptr && *file != 0) return {file};
    std::vector<std::string> paths(names.begin(), names.end());
    std::vector<std::filesystem::path> roots;
    for (const char* root : {"CUDA_HOME", "CUDA_PATH"})
        if (const char* value = std::getenv(root); value != nullptr && *value != 0) roots.emplace_back(value);
    std::error_code ignored;
    std::vector<std::filesystem::path> installed;
    for (const auto& entry : std::filesystem::directory_iterator("/usr/local", ignored))
        if (entry.path().filename().string().starts_with("cuda")) installed.push_back(entry.path());
    std::sort(installed.rbegin(), installed.rend()); // newest first
    roots.insert(roots.end(), installed.begin(), installed.end());
    for (const auto& root : roots)
        for (const char* folder : {"lib64", "lib", "targets/x86_64-linux/lib"})
            for (const char* name : names)
                if (const auto path = root / folder / name; std::filesystem::exists(path, ignored))
                    paths.push_back(path.string());
    return paths;
}

void* open_first(std::span<const std::string> paths) {
    for (const auto& path : paths)
        if (void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); handle != nullptr)
            return handle;
    return nullptr;
}

void* address_of(void* handle, const char* name) { return dlsym(handle, name); }

} // namespace farfield::jit
