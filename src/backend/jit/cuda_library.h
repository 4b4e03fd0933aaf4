// Libraries of the CUDA toolkit that are loaded when they are used.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace farfield::jit {

/// Where to look for a library, in this order: the file that the environment variable names, alone; each name
/// by the loader's own rules; and in the folders of toolkits, newest first.
std::vector<std::string> cuda_library_paths(const char* variable, std::span<const char* const> names);

/// The first of the paths that can be loaded, or null. Never unloaded: such libraries have state of their own
/// that does not survive that.
void* open_first(std::span<const std::string> paths);

/// The address of a function, or null.
void* address_of(void* handle, const char* name);

/// A function of a loaded library, or null.
template <class Function>
Function* function_of(void* handle, const char* name) {
    return reinterpret_cast<Function*>(address_of(handle, name));
}

} // namespace farfield::jit
