// Evaluates the portable functions on a GPU and on the host over the arguments of parity/portable_cases.h and
// compares hashes of the bits. Exit code 0: the same; 1: not; 77: skipped, with the reason, where no GPU is.
// Build by hand: nvcc -std=c++20 -O3 --fmad=false -arch=native -cudart static -Xcompiler -ffp-contract=off
//                -I src -I tests tests/gpu/portable_math.cu -o portable_math
#include "parity/portable_cases.h"

#include <cstdio>

namespace cases = farfield::portable_cases;

namespace {

constexpr std::uint64_t count = std::uint64_t{1} << 20;

template <class T>
__global__ void hash_kernel(int f, unsigned long long* sum) {
    const std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) atomicAdd(sum, static_cast<unsigned long long>(cases::share_of_case<T>(f, i)));
}

bool failed(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return false;
    std::printf("%s: %s\n", what, cudaGetErrorString(status));
    return true;
}

// Number of functions whose hashes differ, or -1 where the GPU failed.
template <class T>
int compare(const char* type, unsigned long long* device_sum) {
    int different = 0;
    for (int f = 0; f < cases::functions; ++f) {
        std::uint64_t host = 0;
        for (std::uint64_t i = 0; i < count; ++i) host += cases::share_of_case<T>(f, i);
        if (failed(cudaMemset(device_sum, 0, sizeof *device_sum), "cudaMemset")) return -1;
        hash_kernel<T><<<count / 256, 256>>>(f, device_sum);
        if (failed(cudaGetLastError(), "launch")) return -1;
        unsigned long long device = 0;
        if (failed(cudaMemcpy(&device, device_sum, sizeof device, cudaMemcpyDeviceToHost), "cudaMemcpy"))
            return -1;
        std::printf("%-6s %-5s host %016llx device %016llx %s\n", type, cases::names[f],
                    static_cast<unsigned long long>(host), device, host == device ? "same" : "DIFFERENT");
        if (host != device) ++different;
    }
    return different;
}

} // namespace

int main() {
    int devices = 0;
    const cudaError_t status = cudaGetDeviceCount(&devices);
    if (status != cudaSuccess || devices == 0) {
        std::printf("skipped: no CUDA device (%s)\n", cudaGetErrorString(status));
        return 77;
    }
    cudaDeviceProp properties{};
    if (failed(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties")) return 1;
    std::printf("%s, %llu arguments a function\n", properties.name, static_cast<unsigned long long>(count));
    unsigned long long* device_sum = nullptr;
    if (failed(cudaMalloc(&device_sum, sizeof *device_sum), "cudaMalloc")) return 1;
    const int in_double = compare<double>("double", device_sum);
    const int in_float = compare<float>("float", device_sum);
    cudaFree(device_sum);
    return in_double == 0 && in_float == 0 ? 0 : 1;
}
