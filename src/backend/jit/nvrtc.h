// NVIDIA's run-time compiler, loaded when it is first used: CUDA C++ as text to the machine code of one kind
// of GPU. Needs neither a GPU nor a build with CUDA, only NVRTC's shared library (12 or 13).
#pragma once

#include <span>
#include <string>
#include <vector>

namespace farfield::jit {

/// Why CUDA code cannot be compiled on this machine, in one line with the remedy; empty where it can. The
/// library is searched for at $FARFIELD_NVRTC (a file), by the loader, in $CUDA_HOME, $CUDA_PATH, and under
/// /usr/local/cuda*.
std::string why_no_nvrtc();

/// "13.0", or empty.
std::string nvrtc_version();

struct DeviceCode {
    std::vector<char> image; ///< a cubin
    std::string log;         ///< warnings, and registers and memory of each kernel
};

/// Options that all of Farfield's GPU code is compiled with: IEEE operations, no contraction, C++17.
std::span<const char* const> nvrtc_options();

/// Compiles for one architecture exactly, such as "sm_90". `name` appears in the compiler's messages.
/// @throws BackendUnavailable without NVRTC; CompileError with the compiler's messages.
DeviceCode compile_device_code(const std::string& source, const std::string& name,
                               const std::string& architecture, std::span<const std::string> more = {});

} // namespace farfield::jit
