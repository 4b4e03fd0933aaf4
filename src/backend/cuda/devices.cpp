// Finds CUDA devices and turns CUDA's errors into Farfield's.
#include "backend/cuda/devices.h"

#include "backend/cuda/check.h"
#include "backend/cuda/messages.h"

#include <farfield/error.h>

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <string>

namespace farfield::cuda {

namespace {

int driver_version() { // 0 without a driver
    int driver = 0;
    cudaDriverGetVersion(&driver);
    return driver;
}

// What is wrong with driver or devices, or an empty string.
std::string problem_with_driver(int& count) {
    count = 0;
    const int driver = driver_version();
    if (driver == 0) return startup_problem({.driver = driver});
    const cudaError_t status = cudaGetDeviceCount(&count);
    cudaGetLastError(); // the error is reported here; do not leave it for the next check
    return startup_problem({.driver = driver, .runtime = CUDART_VERSION, .count = count, .status = status});
}

} // namespace

CudaVersions versions() {
    const int driver = driver_version();
    if (driver == 0) return {};
    return {.driver = version_text(driver), .runtime = version_text(CUDART_VERSION)};
}

void check(cudaError_t status, std::string_view doing) {
    if (status == cudaSuccess) return;
    cudaGetLastError(); // a later, unrelated check must not find this error again
    DeviceMemoryState memory;
    if (status == cudaErrorMemoryAllocation && cudaMemGetInfo(&memory.free, &memory.total) != cudaSuccess) {
        memory = {};
        cudaGetLastError();
    }
    const auto text = error_text(status, doing, memory);
    if (means_unavailable(status)) throw BackendUnavailable(text);
    throw DeviceError(text);
}

bool built_with_cuda() { return true; }

std::vector<DeviceInfo> devices() {
    int count = 0;
    if (!problem_with_driver(count).empty()) return {};
    std::vector<DeviceInfo> found;
    for (int index = 0; index < count; ++index) {
        cudaDeviceProp properties{};
        check(cudaGetDeviceProperties(&properties, index), "reading the properties of a GPU");
        found.push_back({.index = index,
                         .name = properties.name,
                         .major = properties.major,
                         .minor = properties.minor,
                         .multiprocessors = properties.multiProcessorCount,
                         .memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem),
                         .l2_bytes = properties.l2CacheSize});
    }
    return found;
}

std::string why_no_device() {
    int count = 0;
    return problem_with_driver(count);
}

void use_device(int index) {
    // What was usable once is: kernels of a microsecond do not wait for the driver's version.
    static std::atomic<std::uint64_t> usable{0};
    const auto bit = index >= 0 && index < 64 ? std::uint64_t{1} << static_cast<unsigned>(index) : 0;
    if ((usable.load(std::memory_order_relaxed) & bit) != 0)
        return check(cudaSetDevice(index), "selecting a GPU");
    int count = 0;
    if (const auto problem = problem_with_driver(count); !problem.empty()) throw BackendUnavailable(problem);
    if (index < 0 || index >= count)
        throw BackendUnavailable("there is no cuda:" + std::to_string(index) + "; this machine has cuda:0" +
                                 (count > 1 ? " to cuda:" + std::to_string(count - 1) : ""));
    check(cudaSetDevice(index), "selecting a GPU");
    usable.fetch_or(bit, std::memory_order_relaxed);
}

} // namespace farfield::cuda
