// What CUDA's states and errors are called in Farfield's messages: plain functions, tested without a GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace farfield::cuda {

/// What was found when CUDA was started. Versions as CUDA counts them, 13000 for 13.0; driver 0: there is
/// none.
struct Startup {
    int driver = 0;
    int runtime = 0;
    int count = 0; ///< of GPUs
    cudaError_t status = cudaSuccess;
};

/// Why there is no usable GPU, in one line with the remedy; empty where there is one.
std::string startup_problem(const Startup& found);

/// "13.0"
std::string version_text(int version);

/// "1.50 GiB (1610612736 bytes)"; below 1 KiB only the bytes.
std::string bytes_text(std::size_t bytes);

/// Memory of the current GPU; 0 of 0 where that is not known.
struct DeviceMemoryState {
    std::size_t free = 0;
    std::size_t total = 0;
};

/// "CUDA failed while …: out of memory (cudaErrorMemoryAllocation); …", with what happened and the remedy.
std::string error_text(cudaError_t status, std::string_view doing, const DeviceMemoryState& memory = {});

/// True where the error says that a GPU or driver cannot be used at all, rather than that it failed in use.
bool means_unavailable(cudaError_t status);

} // namespace farfield::cuda
