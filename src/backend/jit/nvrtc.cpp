// NVRTC by dlopen. Its few functions are declared here, so that no CUDA header is needed.
#include "backend/jit/nvrtc.h"

#include "backend/jit/cuda_library.h"
#include "farfield/error.h"

#include <array>

#include <fmt/format.h>

namespace farfield::jit {

namespace {

using Program = void*;

struct Library {
    int (*version)(int*, int*) = nullptr;
    const char* (*error_text)(int) = nullptr;
    int (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
    int (*destroy)(Program*) = nullptr;
    int (*compile)(Program, int, const char* const*) = nullptr;
    int (*log_size)(Program, std::size_t*) = nullptr;
    int (*log)(Program, char*) = nullptr;
    int (*image_size)(Program, std::size_t*) = nullptr;
    int (*image)(Program, char*) = nullptr;
    std::string problem; ///< why it cannot be used
};

constexpr std::array names = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

template <class Function>
void find(void* handle, const char* name, Function*& function, std::string& problem) {
    function = function_of<Function>(handle, name);
    if (function == nullptr && problem.empty()) problem = fmt::format("NVRTC lacks the function {}", name);
}

Library load() {
    Library library;
    void* const handle = open_first(cuda_library_paths("FARFIELD_NVRTC", names));
    if (handle == nullptr) {
        library.problem = "CUDA code cannot be compiled: NVRTC (libnvrtc.so.13 or .12) was not found; "
                          "install the CUDA toolkit, or name the file in FARFIELD_NVRTC";
        return library;
    }
    find(handle, "nvrtcVersion", library.version, library.problem);
    find(handle, "nvrtcGetErrorString", library.error_text, library.problem);
    find(handle, "nvrtcCreateProgram", library.create, library.problem);
    find(handle, "nvrtcDestroyProgram", library.destroy, library.problem);
    find(handle, "nvrtcCompileProgram", library.compile, library.problem);
    find(handle, "nvrtcGetProgramLogSize", library.log_size, library.problem);
    find(handle, "nvrtcGetProgramLog", library.log, library.problem);
    find(handle, "nvrtcGetCUBINSize", library.image_size, library.problem);
    find(handle, "nvrtcGetCUBIN", library.image, library.problem);
    return library;
}

const Library& library() {
    static const Library loaded = load();
    return loaded;
}

const Library& usable() {
    if (!library().problem.empty()) throw BackendUnavailable(library().problem);
    return library();
}

void check(int status, const char* doing) {
    if (status != 0)
        throw BackendUnavailable(
            fmt::format("NVRTC failed while {}: {}", doing, usable().error_text(status)));
}

struct OwnedProgram {
    Program handle = nullptr;
    ~OwnedProgram() {
        if (handle != nullptr) usable().destroy(&handle);
    }
};

std::string log_of(Program program) {
    std::size_t size = 0;
    check(usable().log_size(program, &size), "reading its messages");
    std::string log(size, '\0');
    if (size > 0) check(usable().log(program, log.data()), "reading its messages");
    while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
    return log;
}

constexpr std::array options = {"--std=c++17", "--fmad=false", "--prec-div=true", "--prec-sqrt=true",
                                "--ftz=false", "--ptxas-options=-v",
                                // some of what every kernel offers goes unused
                                "--diag-suppress=177"};

} // namespace

std::string why_no_nvrtc() { return library().problem; }

std::string nvrtc_version() {
    if (!library().problem.empty()) return {};
    int major = 0, minor = 0;
    check(library().version(&major, &minor), "asking for its version");
    return fmt::format("{}.{}", major, minor);
}

std::span<const char* const> nvrtc_options() { return options; }

DeviceCode compile_device_code(const std::string& source, const std::string& name,
                               const std::string& architecture, std::span<const std::string> more) {
    const Library& nvrtc = usable();
    OwnedProgram program;
    check(nvrtc.create(&program.handle, source.c_str(), name.c_str(), 0, nullptr, nullptr),
          "taking a program");
    const std::string target = "--gpu-architecture=" + architecture;
    std::vector<const char*> arguments(options.begin(), options.end());
    arguments.push_back(target.c_str());
    for (const auto& option : more) arguments.push_back(option.c_str());
    const int status = nvrtc.compile(program.handle, static_cast<int>(arguments.size()), arguments.data());
    DeviceCode code;
    code.log = log_of(program.handle);
    if (status != 0)
        throw CompileError(fmt::format("{} does not compile for {}: {}\n{}", name, architecture,
                                       nvrtc.error_text(status), code.log));
    std::size_t size = 0;
    check(nvrtc.image_size(program.handle, &size), "reading the machine code");
    code.image.resize(size);
    check(nvrtc.image(program.handle, code.image.data()), "reading the machine code");
    return code;
}

} // namespace farfield::jit
