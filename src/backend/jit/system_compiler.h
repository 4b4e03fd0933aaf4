// C++ compiled at run time by the system's compiler, and kept in the cache folder.
#pragma once

#include "backend/jit/cache_folder.h"
#include "backend/jit/shared_object.h"

#include <farfield/error.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::jit {

/// There is no C++ compiler: programs still run, interpreted.
class CompilerMissing : public BackendUnavailable {
public:
    using BackendUnavailable::BackendUnavailable;
};

/// The compiler refused generated code, or broke; the message has its words.
class CompilerFailed : public Error {
public:
    using Error::Error;
};

struct SystemCompiler {
    std::filesystem::path path;
    std::string version; ///< first line of what --version says
};

/// The first of $FARFIELD_CXX, $CXX, c++, g++, clang++ that exists. The version is asked once and remembered
/// in `cache` until the compiler's file changes. @throws CompilerMissing; also where $FARFIELD_CXX is set and
/// names none.
SystemCompiler find_system_compiler(const CacheFolder& cache);

/// Flags for speed on this machine that change no bits.
std::vector<std::string> native_flags();

struct Compiled {
    std::shared_ptr<const SharedObject> object;
    bool cached = false;
    double seconds = 0;   ///< in the compiler; 0 where cached
    std::string compiler; ///< its version
    std::string note;     ///< of the cache folder
};

/// The shared object of a C++17 source without includes. The key is made of source, flags, the compiler's
/// path and version, the processor's features and our version.
/// @throws CompilerMissing, CompilerFailed, IoError.
Compiled compile_shared_object(std::string_view source,
                               const std::vector<std::string>& flags = native_flags());

} // namespace farfield::jit
