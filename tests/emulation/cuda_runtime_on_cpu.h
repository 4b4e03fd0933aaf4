// Text of a cuda_runtime.h with which a C++ compiler for the CPU takes the projects that `stencil emit`
// writes for GPUs: memory is the host's, between guards of NaN, and kernels run in the fibers of
// cuda_on_cpu.h.
#pragma once

#include "emulation/cuda_on_cpu.h"

#include <string>

namespace farfield::testing {

inline std::string cuda_runtime_on_cpu() {
    return std::string("#pragma once\n#define __host__\n") + cuda_on_cpu + R"(
#include <stdlib.h>
#include <map>
enum cudaError_t { cudaSuccess, cudaErrorMemoryAllocation };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
using cudaStream_t = void*;
struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
inline const char* cudaGetErrorString(cudaError_t) { return "no memory"; }
inline cudaError_t cudaMalloc(void** memory, size_t bytes) {
    const size_t guard = 1 << 16;
    char* const all = static_cast<char*>(malloc(bytes + 2 * guard));
    if (all == nullptr) return cudaErrorMemoryAllocation;
    memset(all, 0xff, bytes + 2 * guard);
    *memory = all + guard;
    return cudaSuccess;
}
inline cudaError_t cudaMallocHost(void** memory, size_t bytes) {
    *memory = malloc(bytes);
    return *memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}
inline cudaError_t cudaFreeHost(void* memory) { return free(memory), cudaSuccess; }
inline cudaError_t cudaMemset(void* memory, int value, size_t bytes) { return memset(memory, value, bytes), cudaSuccess; }
inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
    if (bytes > 0) memcpy(to, from, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t rows,
                                     cudaMemcpyKind, cudaStream_t) {
    for (size_t row = 0; row < rows; ++row)
        memcpy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t rows,
                                cudaMemcpyKind kind) {
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, rows, kind, nullptr);
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
inline cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, cudaSuccess; }
inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }
namespace emulator {
struct Kernel {
    void (*run)(const uint64_t*);
    size_t parameters;
};
inline std::map<const void*, Kernel>& kernels() {
    static std::map<const void*, Kernel> all;
    return all;
}
template <class... A>
size_t parameters_of(void (*)(A...)) {
    return sizeof...(A);
}
template <auto kernel>
const void* registered() {
    const auto address = reinterpret_cast<const void*>(kernel);
    kernels()[address] = {[](const uint64_t* values) { call(kernel, values); }, parameters_of(kernel)};
    return address;
}
} // namespace emulator
inline cudaError_t cudaLaunchKernel(const void* kernel, dim3 blocks, dim3 threads, void** arguments, size_t shared_bytes,
                                    cudaStream_t) {
    static uint64_t seed = 1;
    const auto& of = emulator::kernels().at(kernel);
    std::vector<uint64_t> values;
    for (size_t i = 0; i < of.parameters; ++i) values.push_back(*static_cast<uint64_t*>(arguments[i]));
    emulate(of.run, values.data(), blocks.x, int(threads.x), int(threads.y), int(threads.z), int(shared_bytes), seed++);
    return cudaSuccess;
}
)";
}

/// kernels.cu of a project, with kernels that such a cuda_runtime.h can launch.
inline std::string with_registered_kernels(std::string kernels) {
    const std::string what = "reinterpret_cast<const void*>(";
    for (auto at = kernels.find(what); at != std::string::npos; at = kernels.find(what, at)) {
        const auto end = kernels.find(')', at);
        kernels.replace(end, 1, ">()");
        kernels.replace(at, what.size(), "emulator::registered<");
    }
    return kernels;
}

} // namespace farfield::testing
