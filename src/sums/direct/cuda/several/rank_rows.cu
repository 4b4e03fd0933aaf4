#include "sums/direct/cuda/several/rank_rows.cuh"

#include "backend/cuda/check.h"
#include "sums/direct/cuda/several/ipc_memory.cuh"

#include <farfield/error.h>

namespace farfield::cuda {
namespace {

void make_room(PinnedArray<std::byte>& array, std::size_t bytes) {
    if (array.size() >= bytes) return;
    array = {}; // give the old block back first
    array = PinnedArray<std::byte>(bytes);
}

struct Offer {
    bool is_there = false;
    cudaIpcMemHandle_t memory{};
};

[[noreturn]] void refuse() {
    throw BackendUnavailable("the GPUs of these ranks cannot read each other's memory, which the exchange "
                             "'peer' needs; use 'host' or 'auto'");
}

/// Memory of the other ranks, closed at the end.
class OpenedMemory {
public:
    explicit OpenedMemory(std::size_t ranks) : places_(ranks, nullptr) {}
    OpenedMemory(const OpenedMemory&) = delete;
    OpenedMemory& operator=(const OpenedMemory&) = delete;
    ~OpenedMemory() {
        for (auto* const place : places_)
            if (place != nullptr) succeeded(cudaIpcCloseMemHandle(place));
    }
    [[nodiscard]] bool open(std::size_t rank, const Offer& offer) {
        return offer.is_there && opened(places_[rank], offer.memory);
    }
    [[nodiscard]] std::byte* of(std::size_t rank) const { return places_[rank]; }

private:
    std::vector<std::byte*> places_;
};

} // namespace

RankRows::RankRows(comm::Transport& ranks, Exchange wanted)
    : ranks_(ranks), wanted_(wanted),
      reads_peers_((wanted == Exchange::automatic || wanted == Exchange::peer) &&
                   are_processes_of_one_host(ranks)) {
    if (wanted == Exchange::peer && !reads_peers_) refuse();
}

void RankRows::set_count(std::int64_t own) {
    counts_ = comm::all_values(ranks_, own);
    firsts_.clear();
    all_ = 0;
    for (const auto count : counts_) {
        firsts_.push_back(all_);
        all_ += count;
    }
}

void RankRows::gather(const std::vector<RowArray>& arrays, cudaStream_t stream) {
    if (all_ == 0) return;
    for (const auto& array : arrays) {
        if (reads_peers_) reads_peers_ = read_from_peers(array, stream);
        if (reads_peers_) continue;
        if (wanted_ == Exchange::peer) refuse();
        gather_by_messages(array, stream);
    }
}

// Opened each time: an owner may give memory back only when all have closed it.
bool RankRows::read_from_peers(const RowArray& array, cudaStream_t stream) {
    Offer own;
    own.is_there = succeeded(cudaIpcGetMemHandle(&own.memory, array.data));
    const auto offers = comm::all_values(ranks_, own);
    const auto rank = static_cast<std::size_t>(ranks_.rank());
    bool all_open = own.is_there;
    {
        OpenedMemory others(offers.size());
        for (std::size_t other = 0; other < offers.size(); ++other)
            if (other != rank && counts_[other] > 0) all_open = others.open(other, offers[other]) && all_open;
        check(cudaStreamSynchronize(stream), "waiting for data that other ranks need");
        if (comm::any_rank(ranks_, !all_open)) return false;
        for (std::size_t other = 0; other < offers.size(); ++other)
            if (others.of(other) != nullptr)
                copy_rows(array, {others.of(other), array.row_bytes},
                          static_cast<std::size_t>(firsts_[other]),
                          static_cast<std::size_t>(firsts_[other] + counts_[other]), stream);
        check(cudaStreamSynchronize(stream), "exchanging data between ranks");
    }
    ranks_.barrier();
    return true;
}

void RankRows::gather_by_messages(const RowArray& array, cudaStream_t stream) {
    const auto bytes = [&](std::int64_t rows) { return static_cast<std::size_t>(rows) * array.row_bytes; };
    std::vector<std::size_t> sizes;
    for (const auto count : counts_) sizes.push_back(bytes(count));
    const auto rank = static_cast<std::size_t>(ranks_.rank());
    const auto before = bytes(firsts_[rank]), own = sizes[rank];
    const auto behind = bytes(all_) - before - own;
    check(cudaStreamSynchronize(stream), "waiting for the GPU"); // the last rows may still be on their way
    make_room(own_rows_, own);
    make_room(all_rows_, bytes(all_));
    copy(own_rows_.data(), array.data + before, own, stream);
    check(cudaStreamSynchronize(stream), "waiting for data that other ranks need");
    ranks_.all_gather({own_rows_.data(), own}, {all_rows_.data(), bytes(all_)}, sizes);
    copy(array.data, all_rows_.data(), before, stream);
    copy(array.data + before + own, all_rows_.data() + before + own, behind, stream);
}

} // namespace farfield::cuda
