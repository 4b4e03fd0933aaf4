#include "sums/pme/mesh_ranks.h"

#include "backend/comm/transport.h"

#include <utility>

namespace farfield {
namespace {

std::vector<MeshRanks::Part> parts_of(std::int64_t count, const comm::Transport* ranks) {
    if (ranks == nullptr) return {{0, count}};
    const auto begins = comm::equal_parts(*ranks, count);
    std::vector<MeshRanks::Part> parts;
    for (std::size_t rank = 0; rank + 1 < begins.size(); ++rank)
        parts.push_back({begins[rank], begins[rank + 1]});
    return parts;
}

std::span<double> numbers(std::span<double> array, const MeshRanks::Part& run) {
    return array.subspan(static_cast<std::size_t>(run.begin), static_cast<std::size_t>(run.size()));
}

} // namespace

MeshRanks::MeshRanks(const std::array<std::int32_t, 3>& mesh, comm::Transport* ranks)
    : ranks_(ranks), rank_(ranks != nullptr ? static_cast<std::size_t>(ranks->rank()) : 0),
      rows_of_a_plane_(mesh[1]), planes_of_all_(mesh[2]), planes_(parts_of(mesh[2], ranks)),
      rows_(parts_of(mesh[1], ranks)) {}

// A message for each run of numbers, so that none is copied. What a rank has already stays.
template <class Leaving, class Coming>
void MeshRanks::exchange(std::span<double> array, const Leaving& leaving, const Coming& coming) const {
    constexpr int tag = 104;
    const auto of_a_rank = static_cast<std::size_t>(planes_of_all_); // messages at most
    std::vector<comm::ConstBytes> to(planes_.size() * of_a_rank);
    std::vector<comm::Bytes> from(to.size());
    for (std::size_t rank = 0; rank < planes_.size(); ++rank) {
        if (rank == rank_) continue;
        auto next = rank * of_a_rank;
        leaving(rank,
                [&](Part run) { to[next++] = comm::bytes_of(std::span<const double>(numbers(array, run))); });
        next = rank * of_a_rank;
        coming(rank, [&](Part run) { from[next++] = comm::bytes_of(numbers(array, run)); });
    }
    comm::exchange(*ranks_, to, from, tag, of_a_rank);
    // MPI carries on only while it is called: a rank that computed now would let others wait for what it has
    // still to tell them of its messages
    ranks_->barrier();
}

template <class Body>
void MeshRanks::for_crossing(const Part& planes, const Part& rows, std::int64_t width,
                             const Body& body) const {
    for (auto z = planes.begin; z < planes.end; ++z)
        body({(z * rows_of_a_plane_ + rows.begin) * width, (z * rows_of_a_plane_ + rows.end) * width});
}

void MeshRanks::planes_to_rows(std::span<double> array, std::int64_t width) const {
    if (ranks_ == nullptr) return;
    exchange(
        array, [&](std::size_t rank, const auto& body) { for_crossing(planes(), rows_[rank], width, body); },
        [&](std::size_t rank, const auto& body) { for_crossing(planes_[rank], rows(), width, body); });
}

void MeshRanks::rows_to_planes(std::span<double> array, std::int64_t width) const {
    if (ranks_ == nullptr) return;
    exchange(
        array, [&](std::size_t rank, const auto& body) { for_crossing(planes_[rank], rows(), width, body); },
        [&](std::size_t rank, const auto& body) { for_crossing(planes(), rows_[rank], width, body); });
}

std::vector<std::uint8_t> MeshRanks::needs_of_all(std::span<const std::uint8_t> mine) const {
    if (ranks_ == nullptr) return {};
    return comm::all_gathered(*ranks_, mine, std::vector(planes_.size(), planes_of_all_));
}

void MeshRanks::share_planes(std::span<double> mesh, std::int64_t width,
                             std::span<const std::uint8_t> needs) const {
    if (ranks_ == nullptr) return;
    const auto plane = rows_of_a_plane_ * width;
    const auto for_needed = [&](std::size_t by, std::size_t of, const auto& body) {
        const auto* const need = needs.data() + static_cast<std::int64_t>(by) * planes_of_all_;
        for (auto z = planes_[of].begin; z < planes_[of].end; ++z)
            if (need[z] != 0) body({z * plane, (z + 1) * plane});
    };
    exchange(
        mesh, [&](std::size_t rank, const auto& body) { for_needed(rank, rank_, body); },
        [&](std::size_t rank, const auto& body) { for_needed(rank_, rank, body); });
}

} // namespace farfield
