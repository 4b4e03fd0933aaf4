// Points sorted by the cell that they lie in, on a GPU: what near images, and meshes, are summed by.
#pragma once

#include "backend/cuda/memory.h"
#include "backend/cuda/workspace.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace farfield::cuda {

class SortedCells {
public:
    /// Where the cell of each of `count` points is to be written before `sort`.
    std::uint32_t* cells_of(int count);

    /// Points of a cell keep the order of their rows. @pre cells < 2^31
    void sort(int count, std::int64_t cells, cudaStream_t stream);

    [[nodiscard]] const std::int32_t* from() const { return from_.data(); } ///< rows, cell after cell
    /// Of each cell the first place, and the end.
    [[nodiscard]] const std::int32_t* start() const { return start_.data(); }
    [[nodiscard]] const std::uint32_t* cells() const { return keys_.data(); } ///< of each place, sorted

private:
    DeviceArray<std::uint32_t> keys_, unsorted_keys_;
    DeviceArray<std::int32_t> from_, rows_, start_;
    Workspace workspace_;
};

} // namespace farfield::cuda
