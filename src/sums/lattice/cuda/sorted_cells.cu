#include "sums/lattice/cuda/sorted_cells.cuh"

#include "sums/tree/cuda/launch.cuh"

#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#include <bit>

namespace farfield::cuda {
namespace {

__global__ void number_kernel(std::int32_t* rows, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) rows[i] = i;
}

/// The first of sorted keys that is not below the thread's number.
__global__ void start_kernel(const std::uint32_t* keys, int count, int cells, std::int32_t* start) {
    const int cell = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (cell > cells) return;
    int low = 0, left = count;
    while (left > 0) {
        const int half = left / 2;
        const bool below = keys[low + half] < static_cast<std::uint32_t>(cell);
        low = below ? low + half + 1 : low;
        left = below ? left - half - 1 : half;
    }
    start[cell] = low;
}

} // namespace

std::uint32_t* SortedCells::cells_of(int count) {
    const auto size = static_cast<std::size_t>(std::max(count, 1));
    make_room(keys_, size);
    make_room(unsorted_keys_, size);
    make_room(from_, size);
    make_room(rows_, size);
    return unsorted_keys_.data();
}

void SortedCells::sort(int count, std::int64_t cells, cudaStream_t stream) {
    make_room(start_, static_cast<std::size_t>(cells + 1));
    launch_over(count, stream, number_kernel, rows_.data(), count);
    if (count > 0) {
        const int bits = std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(cells))));
        std::size_t bytes = 0;
        const auto run = [&](void* memory) {
            check(cub::DeviceRadixSort::SortPairs(memory, bytes, unsorted_keys_.data(), keys_.data(),
                                                  rows_.data(), from_.data(), count, 0, bits, stream),
                  "sorting points");
        };
        run(nullptr);
        run(workspace_.reserve(bytes));
    }
    launch_over(cells + 1, stream, start_kernel, keys_.data(), count, static_cast<int>(cells), start_.data());
}

} // namespace farfield::cuda
