// dlopen and dlsym.
#include "backend/jit/shared_object.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <dlfcn.h>

namespace farfield::jit {

SharedObject::SharedObject(const std::filesystem::path& path)
    : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr)
        throw IoError(
            fmt::format("compiled code cannot be loaded: {}; if {} is on a file system that forbids "
                        "executing, set FARFIELD_CACHE to another folder",
                        dlerror(), path.parent_path().string()));
}

SharedObject::~SharedObject() { dlclose(handle_); }

void* SharedObject::find(const std::string& name) const { return dlsym(handle_, name.c_str()); }

void* SharedObject::required(const std::string& name) const {
    void* symbol = find(name);
    if (symbol == nullptr) throw InternalError(fmt::format("generated code lacks the function {}", name));
    return symbol;
}

} // namespace farfield::jit
