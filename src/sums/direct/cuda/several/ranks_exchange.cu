#include "sums/direct/cuda/several/ranks_exchange.cuh"

#include "backend/cuda/check.h"

#include <utility>

namespace farfield::cuda {
namespace {

constexpr int subtree_tag = 200, points_tag = 201;

void wait_for(cudaStream_t stream) {
    check(cudaStreamSynchronize(stream), "waiting for data that other ranks need");
}

void queue_copy(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
    if (bytes > 0)
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "exchanging data between ranks");
}

} // namespace

RanksExchange::RanksExchange(comm::Transport& ranks, std::size_t point_bytes, const ExchangePart& own,
                             std::vector<int> begins, std::vector<int> subtrees, bool sends_gpu_memory)
    : ranks_(ranks), point_bytes_(point_bytes), own_(own), begins_(std::move(begins)),
      subtrees_(std::move(subtrees)), sends_gpu_memory_(sends_gpu_memory) {
    std::size_t rows = 0;
    for (int rank = 0; rank < ranks.size(); ++rank)
        if (rank != ranks.rank())
            rows += static_cast<std::size_t>(subtrees_of(rank)) * count_of(ranks.rank());
    gathered_ = DeviceArray<Vec4<double>>(rows);
    if (sends_gpu_memory_) return;
    own_points_ = PinnedArray<std::byte>(count_of(ranks.rank()) * point_bytes);
    all_points_ = PinnedArray<std::byte>(all() * point_bytes);
    own_stack_ = PinnedArray<Vec4<double>>(static_cast<std::size_t>(own.subtrees) * all());
    received_ = PinnedArray<Vec4<double>>(rows);
}

void RanksExchange::offer_points(int /*p*/) {
    if (!sends_gpu_memory_)
        queue_copy(own_points_.data(), own_.points + first_of(ranks_.rank()) * point_bytes_,
                   own_points_.size(), own_.stream);
    wait_for(own_.stream);
}

void RanksExchange::take_points(int /*p*/) {
    if (sends_gpu_memory_) return send_points();
    std::vector<std::size_t> sizes;
    for (int rank = 0; rank < ranks_.size(); ++rank) sizes.push_back(count_of(rank) * point_bytes_);
    ranks_.all_gather({own_points_.data(), own_points_.size()}, {all_points_.data(), all_points_.size()},
                      sizes);
    queue_copy(own_.points, all_points_.data(), all_points_.size(), own_.stream);
}

void RanksExchange::send_points() {
    const auto points_of = [&](int rank) {
        return comm::Bytes(own_.points + first_of(rank) * point_bytes_, count_of(rank) * point_bytes_);
    };
    std::vector<comm::MessageHandle> messages;
    for (int other = 0; other < ranks_.size(); ++other) {
        if (other == ranks_.rank()) continue;
        messages.push_back(ranks_.receive(points_of(other), other, points_tag));
        messages.push_back(ranks_.send(points_of(ranks_.rank()), other, points_tag));
    }
    for (const auto& message : messages) message->wait();
}

void RanksExchange::offer_subtrees(int /*p*/) {
    if (!sends_gpu_memory_) queue_copy(own_stack_.data(), own_.stack, own_stack_.bytes(), own_.stream);
    wait_for(own_.stream);
}

void RanksExchange::take_subtrees(int /*p*/) {
    if (sends_gpu_memory_) return send_subtrees(own_.stack, gathered_.data());
    send_subtrees(own_stack_.data(), received_.data());
    queue_copy(gathered_.data(), received_.data(), received_.bytes(), own_.stream);
}

void RanksExchange::send_subtrees(const Vec4<double>* own_stack, Vec4<double>* to) {
    const int rank = ranks_.rank();
    std::vector<comm::MessageHandle> messages;
    for (int other = 0; other < ranks_.size(); ++other)
        for (int k = 0; other != rank && k < subtrees_of(other); ++k, to += count_of(rank))
            messages.push_back(
                ranks_.receive(comm::bytes_of(std::span(to, count_of(rank))), other, subtree_tag));
    for (int other = 0; other < ranks_.size(); ++other)
        for (int k = 0; other != rank && k < own_.subtrees; ++k)
            messages.push_back(ranks_.send(
                comm::bytes_of(std::span<const Vec4<double>>(
                    own_stack + static_cast<std::size_t>(k) * all() + first_of(other), count_of(other))),
                other, subtree_tag));
    for (const auto& message : messages) message->wait();
}

std::vector<const Vec4<double>*> RanksExchange::subtrees_for(int /*p*/) const {
    return places_of_subtrees(own_, gathered_.data(), ranks_.rank(), begins_, subtrees_);
}

} // namespace farfield::cuda
