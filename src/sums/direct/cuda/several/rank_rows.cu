#include "sums/direct/cuda/several/rank_rows.cuh"

#include "backend/comm/agree.h"
#include "backend/comm/gpu_messages.h"
#include "backend/cuda/check.h"
#include "sums/direct/cuda/several/ipc_memory.cuh"

#include <farfield/error.h>

#include <algorithm>
#include <span>

namespace farfield::cuda {
namespace {

constexpr int rows_tag = 210; ///< of the first array

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

std::size_t bytes_of_row(const std::vector<RowArray>& arrays) {
    std::size_t bytes = 0;
    for (const auto& array : arrays) bytes += array.row_bytes;
    return bytes;
}

} // namespace

RankRows::RankRows(comm::Transport& ranks, Exchange wanted, MpiGpu mpi_gpu)
    : ranks_(ranks), processes_(processes_of_one_host(ranks)), wanted_(wanted),
      sends_gpu_memory_(comm::sends_gpu_memory(ranks, mpi_gpu)),
      reads_peers_((wanted == Exchange::automatic || wanted == Exchange::peer) && !processes_.empty()) {
    if (wanted == Exchange::peer && !reads_peers_) refuse();
    check(cudaGetDevice(&device_), "asking for the GPU");
}

void RankRows::set_count(std::int64_t own) {
    counts_ = comm::all_values(ranks_, own);
    ranges_.clear();
    all_ = 0;
    for (const auto count : counts_) {
        ranges_.push_back({{all_, all_ + count}});
        all_ += count;
    }
}

void RankRows::set_ranges(const std::vector<RowRange>& own) {
    const auto sizes = comm::all_values(ranks_, static_cast<std::int64_t>(own.size()));
    const auto all = comm::all_gathered(ranks_, std::span<const RowRange>(own), sizes);
    ranges_.clear();
    counts_.clear();
    all_ = 0;
    auto next = all.begin();
    for (const auto size : sizes) {
        const auto& of_rank = ranges_.emplace_back(next, next + size);
        next += size;
        std::int64_t count = 0;
        for (const auto& range : of_rank) count += range.size();
        counts_.push_back(count);
        all_ += count;
    }
}

void RankRows::gather(const std::vector<RowArray>& arrays, cudaStream_t stream) {
    if (all_ == 0) return;
    if (reads_peers_) {
        const auto most = static_cast<std::size_t>(*std::max_element(counts_.begin(), counts_.end()));
        const auto needed = most * bytes_of_row(arrays);
        reads_peers_ = needed <= bytes_of_turn_ || open_others(needed + needed / 4);
    }
    if (!reads_peers_ && wanted_ == Exchange::peer) refuse();
    taken_.synchronize(); // rows of the last gather, whatever its stream
    if (reads_peers_)
        read_from_peers(arrays, stream);
    else if (sends_gpu_memory_)
        send_from_gpu(arrays, stream);
    else
        for (const auto& array : arrays) send_from_host(array, stream);
    taken_.record(stream);
}

bool RankRows::open_others(std::size_t bytes_of_turn) {
    constexpr std::size_t line = 512;
    bytes_of_turn = (bytes_of_turn + line - 1) / line * line;
    bytes_of_turn_ = 0; // until all have opened all
    close_others();
    Offer own;
    comm::together(ranks_, [&] {
        own_ = ExportedMemory(processes_, 2 * bytes_of_turn);
        own.is_there = succeeded(cudaIpcGetMemHandle(&own.memory, own_.data()));
    });
    const auto offers = comm::all_values(ranks_, own);
    others_.assign(offers.size(), nullptr);
    bool all_open = own.is_there;
    for (std::size_t other = 0; other < offers.size(); ++other)
        if (other != static_cast<std::size_t>(ranks_.rank()))
            all_open = offers[other].is_there && opened(others_[other], offers[other].memory) && all_open;
    if (!comm::any_rank(ranks_, !all_open)) {
        bytes_of_turn_ = bytes_of_turn;
        return true;
    }
    close_others();
    own_ = {};
    return false;
}

void RankRows::close_others() noexcept {
    if (others_.empty()) return;
    int before = device_;
    succeeded(cudaGetDevice(&before));
    succeeded(cudaSetDevice(device_));
    succeeded(cudaDeviceSynchronize()); // what others have is not read from any more
    for (auto* const memory : others_)
        if (memory != nullptr) succeeded(cudaIpcCloseMemHandle(memory));
    others_.clear();
    succeeded(cudaSetDevice(before));
}

void RankRows::read_from_peers(const std::vector<RowArray>& arrays, cudaStream_t stream) {
    const auto turn = turn_ * bytes_of_turn_;
    turn_ = 1 - turn_;
    // visit(rows of a rank in an array, where they are exported, their bytes)
    const auto each_array = [&](std::size_t rank, std::byte* memory, const auto& visit) {
        auto* at = memory + turn;
        for (const auto& array : arrays)
            for (const auto& range : ranges_[rank]) {
                const auto bytes = static_cast<std::size_t>(range.size()) * array.row_bytes;
                visit(array.data + static_cast<std::size_t>(range.begin) * array.row_bytes, at, bytes);
                at += bytes;
            }
    };
    each_array(
        static_cast<std::size_t>(ranks_.rank()), own_.data(),
        [&](const std::byte* rows, std::byte* at, std::size_t bytes) { copy(at, rows, bytes, stream); });
    check(cudaStreamSynchronize(stream), "waiting for data that other ranks need");
    ranks_.barrier();
    for (std::size_t other = 0; other < others_.size(); ++other)
        if (others_[other] != nullptr)
            each_array(other, others_[other], [&](std::byte* rows, const std::byte* at, std::size_t bytes) {
                copy(rows, at, bytes, stream);
            });
}

void RankRows::send_from_gpu(const std::vector<RowArray>& arrays, cudaStream_t stream) {
    check(cudaStreamSynchronize(stream), "waiting for data that other ranks need");
    std::vector<comm::MessageHandle> messages;
    for (std::size_t k = 0; k < arrays.size(); ++k) {
        const auto rows_in = [&](const RowRange& range) {
            return comm::Bytes(arrays[k].data + static_cast<std::size_t>(range.begin) * arrays[k].row_bytes,
                               static_cast<std::size_t>(range.size()) * arrays[k].row_bytes);
        };
        const int tag = rows_tag + static_cast<int>(k);
        for (int other = 0; other < ranks_.size(); ++other) {
            if (other == ranks_.rank()) continue;
            for (const auto& range : ranges_[static_cast<std::size_t>(other)])
                if (range.size() > 0) messages.push_back(ranks_.receive(rows_in(range), other, tag));
            for (const auto& range : ranges_[static_cast<std::size_t>(ranks_.rank())])
                if (range.size() > 0) messages.push_back(ranks_.send(rows_in(range), other, tag));
        }
    }
    for (const auto& message : messages) message->wait();
}

void RankRows::send_from_host(const RowArray& array, cudaStream_t stream) {
    const auto bytes = [&](std::int64_t rows) { return static_cast<std::size_t>(rows) * array.row_bytes; };
    std::vector<std::size_t> sizes;
    for (const auto count : counts_) sizes.push_back(bytes(count));
    const auto rank = static_cast<std::size_t>(ranks_.rank());
    check(cudaStreamSynchronize(stream), "waiting for the GPU"); // the last rows may still be on their way
    make_room(own_rows_, sizes[rank]);
    make_room(all_rows_, bytes(all_));
    auto* packed = own_rows_.data();
    for (const auto& range : ranges_[rank]) {
        copy(packed, array.data + bytes(range.begin), bytes(range.size()), stream);
        packed += bytes(range.size());
    }
    check(cudaStreamSynchronize(stream), "waiting for data that other ranks need");
    ranks_.all_gather({own_rows_.data(), sizes[rank]}, {all_rows_.data(), bytes(all_)}, sizes);
    const auto* from = all_rows_.data();
    for (std::size_t other = 0; other < ranges_.size(); ++other)
        for (const auto& range : ranges_[other]) {
            if (other != rank) copy(array.data + bytes(range.begin), from, bytes(range.size()), stream);
            from += bytes(range.size());
        }
}

} // namespace farfield::cuda
