// Cached machine code: named by all that it depends on.
#include "stencil/runtime/cuda/device_code.h"

#include "backend/jit/cache_folder.h"
#include "backend/jit/nvrtc.h"
#include "backend/jit/sha256.h"

#include <chrono>

namespace farfield::stencil::cuda {

CachedCode code_for(const std::string& source, const std::string& architecture) {
    jit::Sha256 key;
    key.add_field(source);
    key.add_field(architecture);
    for (const char* option : jit::nvrtc_options()) key.add_field(option);
    key.add_field(jit::nvrtc_version());
    const auto name = key.hex() + ".cubin";
    const auto cache = jit::CacheFolder::open();
    CachedCode code;
    if (const auto found = cache.read(name)) {
        code.image.assign(found->begin(), found->end());
        return code;
    }
    const auto start = std::chrono::steady_clock::now();
    code.image = jit::compile_device_code(source, "stencil.cu", architecture).image;
    code.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    cache.write(name, {code.image.data(), code.image.size()});
    return code;
}

} // namespace farfield::stencil::cuda
