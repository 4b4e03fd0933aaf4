// Which targets a rank computes of those of all ranks, each with a GPU that has all points.
#pragma once

#include "backend/comm/transport.h"
#include "backend/cuda/row_array.h"
#include "sums/direct/cuda/several/rank_rows.cuh"

#include <farfield/sum_options.h>

#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace farfield::cuda {

class SharedRows {
public:
    /// @param ranks  null: this process is alone, and computes all
    SharedRows(comm::Transport* ranks, const SumOptions& options);

    /// Ranks that want about as many compute what they want, others equal parts. @param wanted  of this rank
    void divide(std::int64_t all, RowRange wanted);
    [[nodiscard]] RowRange computed() const { return computed_; }
    /// Gives all ranks all rows where some want others than they compute; false where none does.
    bool gather(const std::vector<RowArray>& arrays, cudaStream_t stream);

private:
    comm::Transport* ranks_;
    std::optional<RankRows> rows_; ///< of ranks
    RowRange computed_;
    bool gathers_ = false;
};

} // namespace farfield::cuda
