#include "sums/direct/cuda/several/shared_rows.cuh"

#include <algorithm>
#include <cstddef>

namespace farfield::cuda {

SharedRows::SharedRows(comm::Transport* ranks, const SumOptions& options) : ranks_(ranks) {
    if (ranks_ != nullptr) rows_.emplace(*ranks_, options.exchange, options.mpi_gpu);
}

void SharedRows::divide(std::int64_t all, RowRange wanted) {
    computed_ = {0, all};
    if (ranks_ == nullptr) return;
    constexpr double fair = 1.05;
    const auto counts = comm::all_values(*ranks_, wanted.size());
    const auto most = *std::max_element(counts.begin(), counts.end());
    gathers_ = static_cast<double>(most) * ranks_->size() > fair * static_cast<double>(all);
    computed_ = wanted;
    if (!gathers_) return;
    const auto begins = comm::equal_parts(*ranks_, all);
    const auto rank = static_cast<std::size_t>(ranks_->rank());
    computed_ = {begins[rank], begins[rank + 1]};
    rows_->set_count(computed_.size());
}

bool SharedRows::gather(const std::vector<RowArray>& arrays, cudaStream_t stream) {
    if (gathers_) rows_->gather(arrays, stream);
    return gathers_;
}

} // namespace farfield::cuda
