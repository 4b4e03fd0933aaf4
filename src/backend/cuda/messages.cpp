#include "backend/cuda/messages.h"

#include <array>
#include <cstdio>

namespace farfield::cuda {

namespace {

std::string_view remedy_for(cudaError_t status) {
    switch (status) {
    case cudaErrorMemoryAllocation:
        return "; the GPU's memory is full: use fewer points, another GPU, or end other programs that use it";
    case cudaErrorNoKernelImageForDevice:
        return "; this build has no code for this GPU: configure with -DCMAKE_CUDA_ARCHITECTURES=native";
    case cudaErrorDevicesUnavailable:
        return "; another program has the GPU for itself: wait for it, or choose another GPU";
    case cudaErrorECCUncorrectable:
    case cudaErrorHardwareStackError:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorLaunchTimeout:
    case cudaErrorUnknown:
        return "; the GPU is lost to this program: check nvidia-smi, restart the program, resume from the "
               "last "
               "checkpoint";
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorLaunchFailure:
        return "; the GPU is lost to this program: restart it and resume from the last checkpoint; if it "
               "happens "
               "again, run compute-sanitizer and report it";
    case cudaErrorInsufficientDriver:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
        return "; update the NVIDIA driver, or run with --device cpu";
    default:
        return "";
    }
}

} // namespace

std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string bytes_text(std::size_t bytes) {
    constexpr std::array units{"KiB", "MiB", "GiB", "TiB"};
    const auto plain = std::to_string(bytes) + " bytes";
    if (bytes < 1024) return plain;
    double value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < units.size()) value /= 1024, ++unit;
    std::array<char, 32> number{};
    std::snprintf(number.data(), number.size(), "%.2f ", value);
    return number.data() + std::string(units.at(unit)) + " (" + plain + ")";
}

std::string startup_problem(const Startup& found) {
    if (found.driver == 0) return "no NVIDIA driver found; install one, or run on the CPU with --device cpu";
    if (found.status == cudaSuccess && found.count > 0) return {};
    if (found.status == cudaErrorInsufficientDriver)
        return "the NVIDIA driver is too old: it supports CUDA " + version_text(found.driver) +
               ", this build needs " + version_text(found.runtime) +
               "; update the driver or run with --device cpu";
    if (found.status == cudaSuccess || found.status == cudaErrorNoDevice)
        return "no CUDA device is visible; check nvidia-smi and CUDA_VISIBLE_DEVICES, or run with --device "
               "cpu";
    return std::string("CUDA does not start: ") + cudaGetErrorString(found.status) +
           "; check nvidia-smi, or run with --device cpu";
}

std::string error_text(cudaError_t status, std::string_view doing, const DeviceMemoryState& memory) {
    std::string text("CUDA failed while ");
    text.append(doing).append(": ").append(cudaGetErrorString(status));
    text.append(" (").append(cudaGetErrorName(status)).append(")");
    if (status == cudaErrorMemoryAllocation && memory.total > 0)
        text += "; " + bytes_text(memory.free) + " of " + bytes_text(memory.total) + " are free";
    return text.append(remedy_for(status));
}

bool means_unavailable(cudaError_t status) {
    return status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver ||
           status == cudaErrorInvalidDevice || status == cudaErrorNoKernelImageForDevice ||
           status == cudaErrorDevicesUnavailable || status == cudaErrorSystemDriverMismatch ||
           status == cudaErrorCompatNotSupportedOnDevice;
}

} // namespace farfield::cuda
