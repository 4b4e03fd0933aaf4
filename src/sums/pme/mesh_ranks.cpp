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

} // namespace

MeshRanks::MeshRanks(const std::array<std::int32_t, 3>& mesh, comm::Transport* ranks)
    : ranks_(ranks), rank_(ranks != nullptr ? static_cast<std::size_t>(ranks->rank()) : 0),
      rows_of_a_plane_(mesh[1]), planes_of_all_(mesh[2]), planes_(parts_of(mesh[2], ranks)),
      rows_(parts_of(mesh[1], ranks)) {}

// What a rank has already is no message, and stays.
template <class Leaving, class Coming>
void MeshRanks::exchange(std::span<double> array, const Leaving& leaving, const Coming& coming) const {
    std::vector<RowRanges> to(planes_.size()), from(planes_.size());
    for (std::size_t rank = 0; rank < planes_.size(); ++rank) {
        if (rank == rank_) continue;
        to[rank] = leaving(rank);
        from[rank] = coming(rank);
    }
    const SumRows numbers(std::vector<double*>{array.data()});
    exchange_rows(*ranks_, numbers, std::move(to), numbers, std::move(from));
}

RowRanges MeshRanks::crossing(const Part& planes, const Part& rows, std::int64_t width) const {
    RowRanges runs;
    for (auto z = planes.begin; z < planes.end; ++z)
        runs.emplace_back((z * rows_of_a_plane_ + rows.begin) * width,
                          (z * rows_of_a_plane_ + rows.end) * width);
    return runs;
}

void MeshRanks::planes_to_rows(std::span<double> array, std::int64_t width) const {
    if (ranks_ == nullptr) return;
    exchange(
        array, [&](std::size_t rank) { return crossing(planes(), rows_[rank], width); },
        [&](std::size_t rank) { return crossing(planes_[rank], rows(), width); });
}

void MeshRanks::rows_to_planes(std::span<double> array, std::int64_t width) const {
    if (ranks_ == nullptr) return;
    exchange(
        array, [&](std::size_t rank) { return crossing(planes_[rank], rows(), width); },
        [&](std::size_t rank) { return crossing(planes(), rows_[rank], width); });
}

std::vector<std::uint8_t> MeshRanks::needs_of_all(std::span<const std::uint8_t> mine) const {
    if (ranks_ == nullptr) return {};
    return comm::all_gathered(*ranks_, mine, std::vector(planes_.size(), planes_of_all_));
}

void MeshRanks::share_planes(std::span<double> mesh, std::int64_t width,
                             std::span<const std::uint8_t> needs) const {
    if (ranks_ == nullptr) return;
    const auto plane = rows_of_a_plane_ * width;
    const auto needed = [&](std::size_t by, std::size_t of) {
        RowRanges runs;
        for (auto z = planes_[of].begin; z < planes_[of].end; ++z)
            if (needs[by * static_cast<std::size_t>(planes_of_all_) + static_cast<std::size_t>(z)] != 0) {
                if (!runs.empty() && runs.back().second == z * plane)
                    runs.back().second += plane;
                else
                    runs.emplace_back(z * plane, (z + 1) * plane);
            }
        return runs;
    };
    exchange(
        mesh, [&](std::size_t rank) { return needed(rank, rank_); },
        [&](std::size_t rank) { return needed(rank_, rank); });
}

} // namespace farfield
