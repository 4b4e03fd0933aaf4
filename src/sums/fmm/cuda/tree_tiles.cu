// TreeTiles of device_far.cuh.
#include "sums/fmm/cuda/device_far.cuh"

#include <algorithm>

namespace farfield::cuda {

void TreeTiles::make(const DeviceTree& tree, cudaStream_t stream) {
    constexpr int width = tile_targets;
    auto& tiles = made_;
    tiles.clear();
    const auto begin = [&] { return Range{static_cast<int>(tiles.size()), 0}; };
    const auto cut = [&](Range& of, std::int32_t first, std::int32_t count, std::int32_t group, int level) {
        for (; count > 0; first += width, count -= width) {
            tiles.push_back({first, std::min(count, width), group, level});
            ++of.count;
        }
    };
    up_.clear();
    down_.clear();
    for (int level = 0; level < tree.levels(); ++level) {
        auto& up = up_.emplace_back(begin());
        cut(up, tree.level_begin(level), tree.level_begin(level + 1) - tree.level_begin(level), 0, level);
    }
    std::int32_t first = 0;
    for (int level = 0; level < tree.levels(); ++level) {
        auto& down = down_.emplace_back(begin());
        for (int octant = 0; octant < 8; ++octant) {
            const auto count = tree.octant_counts()[static_cast<std::size_t>(8 * level + octant)];
            cut(down, first, count, level == 0 ? coarse_group : octant, level);
            first += count;
        }
    }
    make_room(tiles_, tiles.size(), tiles.size() / 4);
    copy(tiles_.data(), tiles.data(), tiles.size(), stream);
}

} // namespace farfield::cuda
