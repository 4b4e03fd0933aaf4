// Arrays on the GPU of each rank, of which every rank has computed some rows: all get all.
#pragma once

#include "backend/comm/transport.h"
#include "backend/cuda/memory.h"
#include "backend/cuda/row_array.h"
#include "backend/cuda/stream.h"
#include "sums/direct/cuda/several/exported_memory.cuh"

#include <farfield/device.h>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace farfield::cuda {

/// Rows [begin, end).
struct RowRange {
    std::int64_t begin = 0, end = 0;
    [[nodiscard]] std::int64_t size() const { return end - begin; }
};

/// Ranks of one host read from each other's GPUs where they can; otherwise rows are sent, from the GPU where
/// messages may hold its memory, or through pinned memory. Calls are collective, and made with the rank's GPU
/// current, as the object is.
class RankRows {
public:
    /// @throws BackendUnavailable on all ranks where `peer` is wanted and they are not processes of one host,
    /// or `on` and MPI knows no GPUs
    RankRows(comm::Transport& ranks, Exchange wanted, MpiGpu mpi_gpu);
    RankRows(const RankRows&) = delete;
    RankRows& operator=(const RankRows&) = delete;
    ~RankRows() { close_others(); }

    /// The ranks' rows stand in the order of ranks; this one has so many.
    void set_count(std::int64_t own);
    /// Those that this one has, in any order; none are of two ranks.
    void set_ranges(const std::vector<RowRange>& own);
    /// Waits for `stream` and for the other ranks; their rows are there in the order of `stream`.
    /// @throws BackendUnavailable on all ranks where `peer` is wanted and a GPU cannot read another's memory
    void gather(const std::vector<RowArray>& arrays, cudaStream_t stream);

private:
    void read_from_peers(const std::vector<RowArray>& arrays, cudaStream_t stream);
    [[nodiscard]] bool open_others(std::size_t bytes_of_turn);
    void close_others() noexcept;
    void send_from_gpu(const std::vector<RowArray>& arrays, cudaStream_t stream);
    void send_from_host(const RowArray& array, cudaStream_t stream);

    comm::Transport& ranks_;
    int device_ = 0;
    std::vector<pid_t> processes_; ///< none where they cannot open each other's memory
    Exchange wanted_;
    bool sends_gpu_memory_, reads_peers_;       ///< on all ranks the same
    std::vector<std::vector<RowRange>> ranges_; ///< of each rank
    std::vector<std::int64_t> counts_;          ///< the rows of these
    std::int64_t all_ = 0;
    // What the others read: two gathers take turns, so that a rank may write rows of the next one while
    // others still read those of the last.
    ExportedMemory own_;
    std::vector<std::byte*> others_; ///< of each rank but this one, open
    std::size_t bytes_of_turn_ = 0, turn_ = 0;
    Signal taken_;
    PinnedArray<std::byte> own_rows_, all_rows_;
};

} // namespace farfield::cuda
