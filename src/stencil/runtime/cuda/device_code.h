// The machine code of a plan for one architecture, from the cache or from NVRTC.
#pragma once

#include <string>
#include <vector>

namespace farfield::stencil::cuda {

struct CachedCode {
    std::vector<char> image; ///< a cubin
    double seconds = 0;      ///< in the compiler; 0 where the cache had it
};

/// @param architecture "sm_90"
/// @throws BackendUnavailable without NVRTC; CompileError.
CachedCode code_for(const std::string& source, const std::string& architecture);

} // namespace farfield::stencil::cuda
