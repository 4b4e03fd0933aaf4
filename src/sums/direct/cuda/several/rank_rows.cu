#include "sums/direct/cuda/several/rank_rows.cuh"

#include "backend/cuda/check.h"

namespace farfield::cuda {
namespace {

void make_room(PinnedArray<std::byte>& array, std::size_t bytes) {
    if (array.size() >= bytes) return;
    array = {}; // give the old block back first
    array = PinnedArray<std::byte>(bytes);
}

} // namespace

void RankRows::set_count(std::int64_t own) {
    counts_ = comm::all_values(ranks_, own);
    first_ = all_ = 0;
    for (std::size_t rank = 0; rank < counts_.size(); ++rank) {
        if (static_cast<int>(rank) < ranks_.rank()) first_ += counts_[rank];
        all_ += counts_[rank];
    }
}

void RankRows::gather(const RowArray& array, cudaStream_t stream) {
    const auto bytes = [&](std::int64_t rows) { return static_cast<std::size_t>(rows) * array.row_bytes; };
    std::vector<std::size_t> sizes;
    for (const auto count : counts_) sizes.push_back(bytes(count));
    const auto before = bytes(first_), own = sizes[static_cast<std::size_t>(ranks_.rank())];
    const auto behind = bytes(all_) - before - own;
    make_room(own_rows_, own);
    check(cudaStreamSynchronize(stream), "waiting for the GPU"); // the last rows may still be on their way
    make_room(all_rows_, bytes(all_));
    copy(own_rows_.data(), array.data + before, own, stream);
    check(cudaStreamSynchronize(stream), "waiting for data that other ranks need");
    ranks_.all_gather({own_rows_.data(), own}, {all_rows_.data(), bytes(all_)}, sizes);
    copy(array.data, all_rows_.data(), before, stream);
    copy(array.data + before + own, all_rows_.data() + before + own, behind, stream);
}

} // namespace farfield::cuda
