#include "sums/direct/cuda/several/peer_ranks.cuh"

#include "backend/cuda/check.h"
#include "sums/direct/cuda/several/ipc_memory.cuh"

#include <algorithm>
#include <exception>

namespace farfield::cuda {
namespace {

/// What a rank lets the others open.
struct Offer {
    bool has_stack = false, is_whole = false;
    cudaIpcMemHandle_t points{}, stack{};
};

Offer offer_of(const ExchangePart& own) {
    Offer offer;
    offer.has_stack = own.subtrees > 0;
    offer.is_whole = succeeded(cudaIpcGetMemHandle(&offer.points, own.points)) &&
                     (!offer.has_stack || succeeded(cudaIpcGetMemHandle(&offer.stack, own.stack)));
    return offer;
}

} // namespace

std::unique_ptr<PeerRanks> PeerRanks::open(comm::Transport& ranks, std::size_t point_bytes,
                                           const ExchangePart& own, const std::vector<int>& begins,
                                           const std::vector<int>& subtrees) {
    if (processes_of_one_host(ranks).empty() || begins.back() == 0) return nullptr;
    std::unique_ptr<PeerRanks> peers(new PeerRanks(ranks, point_bytes, own, begins, subtrees));
    if (comm::any_rank(ranks, !peers->open_all())) return nullptr;
    std::size_t rows = 0;
    const auto rank = static_cast<std::size_t>(ranks.rank());
    for (std::size_t other = 0; other < subtrees.size(); ++other)
        if (other != rank)
            rows += static_cast<std::size_t>(subtrees[other]) *
                    static_cast<std::size_t>(begins[rank + 1] - begins[rank]);
    peers->gathered_ = DeviceArray<Vec4<double>>(rows);
    return peers;
}

bool PeerRanks::open_all() {
    const auto offers = comm::all_values(ranks_, offer_of(own_));
    if (!std::all_of(offers.begin(), offers.end(), [](const Offer& offer) { return offer.is_whole; }))
        return false;
    for (std::size_t rank = 0; rank < offers.size(); ++rank) {
        if (static_cast<int>(rank) == ranks_.rank()) continue;
        if (!opened(memory_[rank].points, offers[rank].points)) return false;
        if (offers[rank].has_stack && !opened(memory_[rank].stack, offers[rank].stack)) return false;
    }
    return true;
}

// Memory stays until all have closed it, unless an error has separated the ranks.
PeerRanks::~PeerRanks() {
    for (const auto& one : memory_) {
        if (one.points != nullptr) succeeded(cudaIpcCloseMemHandle(one.points));
        if (one.stack != nullptr) succeeded(cudaIpcCloseMemHandle(one.stack));
    }
    if (std::uncaught_exceptions() > 0) return;
    try {
        ranks_.barrier();
    } catch (const std::exception&) { // the others are gone
    }
}

void PeerRanks::wait_for_all() {
    check(cudaStreamSynchronize(own_.stream), "waiting for data that other ranks need");
    ranks_.barrier();
}

void PeerRanks::offer_points(int /*p*/) { wait_for_all(); }

void PeerRanks::take_points(int /*p*/) {
    for (std::size_t other = 0; other < memory_.size(); ++other) {
        const auto first = static_cast<std::size_t>(begins_[other]) * point_bytes_;
        const auto bytes = static_cast<std::size_t>(begins_[other + 1]) * point_bytes_ - first;
        if (memory_[other].points == nullptr || bytes == 0) continue;
        check(cudaMemcpyAsync(own_.points + first, memory_[other].points + first, bytes, cudaMemcpyDefault,
                              own_.stream),
              "exchanging points between ranks");
    }
}

void PeerRanks::offer_subtrees(int /*p*/) { wait_for_all(); }

// Nobody overwrites what is read here before the next step's points are offered, which waits for this stream.
void PeerRanks::take_subtrees(int /*p*/) {
    const auto rank = static_cast<std::size_t>(ranks_.rank());
    const auto first = static_cast<std::size_t>(begins_[rank]);
    const auto count = static_cast<std::size_t>(begins_[rank + 1]) - first;
    const auto all = static_cast<std::size_t>(begins_.back());
    auto* to = gathered_.data();
    for (std::size_t other = 0; other < memory_.size(); ++other)
        for (int k = 0; other != rank && count > 0 && k < subtrees_[other]; ++k, to += count)
            check(cudaMemcpyAsync(to, memory_[other].stack + static_cast<std::size_t>(k) * all + first,
                                  count * sizeof *to, cudaMemcpyDefault, own_.stream),
                  "exchanging sums between ranks");
}

std::vector<const Vec4<double>*> PeerRanks::subtrees_for(int /*p*/) const {
    return places_of_subtrees(own_, gathered_.data(), ranks_.rank(), begins_, subtrees_);
}

} // namespace farfield::cuda
