// Arrays on the GPU of each rank, of which every rank has computed some rows: all get all.
#pragma once

#include "backend/comm/transport.h"
#include "backend/cuda/memory.h"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace farfield::cuda {

/// An array on a GPU as bytes.
struct RowArray {
    std::byte* data = nullptr;
    std::size_t row_bytes = 0;
};

/// Through pinned memory and messages. Calls are collective, and made with the rank's GPU current.
class RankRows {
public:
    explicit RankRows(comm::Transport& ranks) : ranks_(ranks) {}

    /// The ranks' rows stand in the order of ranks; this one has so many.
    void set_count(std::int64_t own);
    /// Waits for `stream` and for the other ranks; their rows are there in the order of `stream`.
    void gather(const RowArray& array, cudaStream_t stream);

private:
    comm::Transport& ranks_;
    std::vector<std::int64_t> counts_;
    std::int64_t first_ = 0, all_ = 0; ///< this rank's first row
    PinnedArray<std::byte> own_rows_, all_rows_;
};

} // namespace farfield::cuda
