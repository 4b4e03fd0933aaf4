// A kernel that ends all work of this process on the GPU, as a lost GPU would.
#include "break_gpu.h"

#include <cuda_runtime_api.h>

namespace farfield::test {

__global__ void trap_kernel() { __trap(); }

void break_gpu() {
    trap_kernel<<<1, 1>>>();
    cudaDeviceSynchronize();
}

std::vector<void*> fill_memory() {
    std::vector<void*> blocks;
    for (std::size_t bytes = std::size_t{1} << 36; bytes >= std::size_t{1} << 20;) {
        void* block = nullptr;
        if (cudaMalloc(&block, bytes) == cudaSuccess)
            blocks.push_back(block);
        else
            bytes /= 2;
    }
    cudaGetLastError();
    return blocks;
}

void give_back(const std::vector<void*>& blocks) {
    for (void* block : blocks) cudaFree(block);
}

} // namespace farfield::test
