// Launches with a thread for each of some things.
#pragma once

#include "backend/cuda/check.h"

#include <cuda_runtime.h>

#include <cstdint>

namespace farfield::cuda {

template <class... Parameters, class... Arguments>
void launch_over(std::int64_t count, cudaStream_t stream, void (*kernel)(Parameters...),
                 const Arguments&... arguments) {
    constexpr unsigned threads = 256;
    if (count == 0) return;
    kernel<<<static_cast<unsigned>((count + threads - 1) / threads), threads, 0, stream>>>(arguments...);
    check_launch("a pass over a tree");
}

} // namespace farfield::cuda
