// Finds CUDA devices and words CUDA's errors.
#include "backend/cuda/devices.h"

#include "backend/cuda/check.h"

#include <farfield/error.h>

#include <cuda_runtime_api.h>

#include <string>

namespace farfield::cuda {

namespace {

std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// What is wrong with driver or devices, or an empty string. CUDA reports a missing driver as version 0.
std::string problem_with_driver(int& count) {
    count = 0;
    int driver = 0;
    cudaDriverGetVersion(&driver);
    if (driver == 0) return "no NVIDIA driver found; install one, or run on the CPU with --device cpu";
    const cudaError_t status = cudaGetDeviceCount(&count);
    cudaGetLastError(); // the error is reported here; do not leave it for the next check
    if (status == cudaSuccess && count > 0) return {};
    if (status == cudaErrorInsufficientDriver)
        return "the NVIDIA driver supports CUDA " + version_text(driver) + ", this build needs " +
               version_text(CUDART_VERSION) + "; update the driver or run with --device cpu";
    if (status == cudaSuccess || status == cudaErrorNoDevice)
        return "no CUDA device is visible; check nvidia-smi and CUDA_VISIBLE_DEVICES, or run with --device "
               "cpu";
    return std::string("CUDA does not start: ") + cudaGetErrorString(status);
}

bool means_unavailable(cudaError_t status) {
    return status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver ||
           status == cudaErrorInvalidDevice || status == cudaErrorNoKernelImageForDevice ||
           status == cudaErrorDevicesUnavailable;
}

std::string_view remedy_for(cudaError_t status) {
    switch (status) {
    case cudaErrorMemoryAllocation:
        return "; memory is full: use fewer points, another GPU, or end other programs that use it";
    case cudaErrorNoKernelImageForDevice:
        return "; this build has no code for this GPU: configure with -DCMAKE_CUDA_ARCHITECTURES=native";
    case cudaErrorECCUncorrectable:
    case cudaErrorHardwareStackError:
    case cudaErrorDevicesUnavailable:
        return "; the GPU is lost or busy: check nvidia-smi, restart the program, resume from the last "
               "checkpoint";
    default:
        return "";
    }
}

} // namespace

void check(cudaError_t status, std::string_view doing) {
    if (status == cudaSuccess) return;
    cudaGetLastError(); // a later, unrelated check must not find this error again
    std::string text("CUDA failed while ");
    text.append(doing).append(": ").append(cudaGetErrorString(status));
    text.append(" (").append(cudaGetErrorName(status)).append(")").append(remedy_for(status));
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
    int count = 0;
    if (const auto problem = problem_with_driver(count); !problem.empty()) throw BackendUnavailable(problem);
    if (index < 0 || index >= count)
        throw BackendUnavailable("there is no cuda:" + std::to_string(index) + "; this machine has cuda:0" +
                                 (count > 1 ? " to cuda:" + std::to_string(count - 1) : ""));
    check(cudaSetDevice(index), "selecting a GPU");
}

} // namespace farfield::cuda
