#include "sums/pme/mesh_points.h"

#include "backend/threads/parallel.h"

#include <algorithm>
#include <cstddef>

namespace farfield {
namespace {

/// Cells of a block along y and z, at least: thinner ones copy more mesh around them than they have.
constexpr std::int64_t least_cells = 8;
/// Cells along x that points are sorted by, so that neighbours find the mesh in the caches.
constexpr std::int64_t cells_of_a_bin = 8;

} // namespace

MeshBlocks::MeshBlocks(const std::array<std::int32_t, 3>& mesh, int order)
    : mesh_(mesh), order_(order),
      row_((std::int64_t{mesh[0]} + order - 1 + padded_order(order) + 7) / 8 * 8) {
    for (std::size_t k = 0; k < 2; ++k) {
        const std::int64_t n = mesh[k + 1];
        const auto most = n / std::max<std::int64_t>(order - 1, least_cells);
        count_[k] = most < 2 ? 1 : most / 2 * 2;
        block_of_[k].resize(static_cast<std::size_t>(n));
        for (std::int64_t b = 0; b < count_[k]; ++b)
            std::fill(block_of_[k].begin() + b * n / count_[k],
                      block_of_[k].begin() + (b + 1) * n / count_[k], b);
    }
    const auto split = [&](std::size_t k, std::int64_t b) {
        return std::pair{b * mesh_[k + 1] / count_[k], (b + 1) * mesh_[k + 1] / count_[k]};
    };
    colours_.resize(4);
    for (std::int64_t z = 0; z < count_[1]; ++z)
        for (std::int64_t y = 0; y < count_[0]; ++y) {
            const auto [y_begin, y_end] = split(0, y);
            const auto [z_begin, z_end] = split(1, z);
            colours_[static_cast<std::size_t>(2 * (z % 2) + y % 2)].push_back(
                static_cast<std::int64_t>(blocks_.size()));
            blocks_.push_back({{y_begin, z_begin}, {y_end - y_begin, z_end - z_begin}});
        }
}

void MeshPoints::sort(const PeriodicFrame& frame, const MeshBlocks& blocks, const LatticePoints& points,
                      int threads) {
    const auto n = points[0].size();
    const auto& mesh = blocks.mesh();
    std::array<RawVector<std::int32_t>, 3> cell;
    std::array<RawVector<double>, 3> unsorted;
    for (std::size_t k = 0; k < 3; ++k) {
        cell[k].resize(n);
        unsorted[k].resize(n);
    }
    const auto bins = (mesh[0] + cells_of_a_bin - 1) / cells_of_a_bin;
    RawVector<std::int64_t> bin(n);
    parallel_parts(threads, n, [&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i) {
            for (std::size_t k = 0; k < 3; ++k) {
                const auto place = spline_place(points[k][i], frame.length[k], mesh[k], blocks.order());
                cell[k][i] = place.cell;
                unsorted[k][i] = place.fraction;
            }
            bin[i] = blocks.block_of(cell[1][i], cell[2][i]) * bins + cell[0][i] / cells_of_a_bin;
        }
    });
    const auto count = blocks.blocks().size();
    std::vector<std::int64_t> next(count * static_cast<std::size_t>(bins) + 1, 0);
    for (std::size_t i = 0; i < n; ++i) ++next[static_cast<std::size_t>(bin[i]) + 1];
    for (std::size_t b = 1; b < next.size(); ++b) next[b] += next[b - 1];
    start.resize(count + 1);
    for (std::size_t b = 0; b <= count; ++b) start[b] = next[b * static_cast<std::size_t>(bins)];
    order.resize(n);
    for (std::size_t i = 0; i < n; ++i)
        order[static_cast<std::size_t>(next[static_cast<std::size_t>(bin[i])]++)] =
            static_cast<std::int32_t>(i);
    offset.resize(n);
    for (auto& axis : fraction) axis.resize(n);
    parallel_for(threads, static_cast<std::int64_t>(count), [&](std::int64_t b) {
        const auto& block = blocks.blocks()[static_cast<std::size_t>(b)];
        for (auto p = start[static_cast<std::size_t>(b)]; p < start[static_cast<std::size_t>(b) + 1]; ++p) {
            const auto at = static_cast<std::size_t>(p);
            const auto i = static_cast<std::size_t>(order[at]);
            for (std::size_t k = 0; k < 3; ++k) fraction[k][at] = unsorted[k][i];
            const auto y = cell[1][i] - block.first[0], z = cell[2][i] - block.first[1];
            offset[at] = static_cast<std::int32_t>((z * blocks.rows(block) + y) * blocks.row() + cell[0][i]);
        }
    });
}

} // namespace farfield
