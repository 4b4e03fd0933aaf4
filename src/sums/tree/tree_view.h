// An octree, or a quadtree, as flat arrays, on the host or on a GPU: what kernels see of it. Cells have the
// numbers of octree.h: level by level, and on a level in the order of their Morton keys. In a quadtree z is
// 0.
#pragma once

#include "math/host_device.h"
#include "math/nearest_image.h"
#include "sums/points/block_lists.h"

#include <cstdint>

namespace farfield {

struct alignas(16) CellPlace {
    std::int32_t index[3]; ///< of its level's grid
    std::int32_t level;

    [[nodiscard]] FF_HD constexpr int octant() const {
        return (index[0] & 1) | (index[1] & 1) << 1 | (index[2] & 1) << 2;
    }
};

struct TreeView {
    static constexpr std::int32_t none = -1; ///< where there is no cell

    const CellPlace* places = nullptr;
    const std::int32_t* parents = nullptr;
    const std::int32_t* children = nullptr; ///< child_count() of each cell, by octant
    const std::int32_t* divided = nullptr;  ///< 1, or 0 for leaves
    const BlockRange* sources = nullptr;
    const BlockRange* targets = nullptr;      ///< the same array where targets are all sources
    const BlockRange* all_targets = nullptr;  ///< the same array, or where targets are a share, those of all
    const std::int32_t* neighbours = nullptr; ///< neighbour_count() of each cell, x fastest
    const std::int32_t* coarse_cells = nullptr; ///< k³ of level 0, or k², x fastest
    std::int32_t dimension = 3;                 ///< or 2: a quadtree
    std::int32_t separation = 1;
    std::int32_t coarse = 1; ///< k
    bool self = true;        ///< targets are the sources
    bool shared = false;     ///< targets are a share of all: many leaves have none
    BlockRange source_rows;  ///< of a share, in the order of the tree
    double low[3] = {0.0, 0.0, 0.0};
    double width = 1.0;  ///< of a cell of level 0
    double period = 0.0; ///< > 0: that of the cube, and cells have neighbours across its faces

    [[nodiscard]] FF_HD int neighbour_count() const {
        const int n = 2 * separation + 1;
        return dimension == 3 ? n * n * n : n * n;
    }
    [[nodiscard]] FF_HD int child_count() const { return 1 << dimension; }
    [[nodiscard]] FF_HD int neighbour_slot(int dx, int dy, int dz) const {
        const int n = 2 * separation + 1;
        const int slot = (dx + separation) + n * (dy + separation);
        return dimension == 3 ? slot + n * n * (dz + separation) : slot;
    }
    [[nodiscard]] FF_HD std::int32_t neighbour(std::int32_t cell, int slot) const {
        return neighbours[static_cast<std::int64_t>(cell) * neighbour_count() + slot];
    }
    [[nodiscard]] FF_HD std::int32_t child(std::int32_t cell, int octant) const {
        return children[static_cast<std::int64_t>(cell) * child_count() + octant];
    }
    [[nodiscard]] FF_HD bool is_periodic() const { return period > 0.0; }
    /// The index along an axis that a cell of this level has, or the cell whose image lies there.
    [[nodiscard]] FF_HD int wrapped(int index, int level) const {
        const int across = coarse << level;
        while (is_periodic() && index < 0) index += across;
        while (is_periodic() && index >= across) index -= across;
        return index;
    }
    /// Also for the index of a neighbour's image.
    [[nodiscard]] FF_HD std::int32_t coarse_cell(int x, int y, int z) const {
        x = wrapped(x, 0);
        y = wrapped(y, 0);
        z = wrapped(z, 0);
        if (x < 0 || y < 0 || z < 0 || x >= coarse || y >= coarse || z >= coarse) return none;
        return coarse_cells[x + coarse * (y + coarse * z)];
    }
    /// Of shares one forms the expansions of a leaf: that where its sources begin. Where there are none all
    /// do, which is of 0.
    [[nodiscard]] FF_HD bool forms(std::int32_t leaf) const {
        const auto range = sources[leaf];
        return range.size() == 0 || (range.begin >= source_rows.begin && range.begin < source_rows.end);
    }
    [[nodiscard]] FF_HD bool is_leaf(std::int32_t cell) const { return divided[cell] == 0; }
    [[nodiscard]] FF_HD double width_of(int level) const {
        return width / static_cast<double>(std::int64_t{1} << level);
    }
    /// The coordinate of a cell's centre along an axis.
    [[nodiscard]] FF_HD double centre(const CellPlace& place, int axis) const {
        if (axis >= dimension) return 0.0;
        return low[axis] + width_of(place.level) * (place.index[axis] + 0.5);
    }
    /// That of the image that is nearest to another cell.
    [[nodiscard]] FF_HD double centre(const CellPlace& place, int axis, const CellPlace& near) const {
        const double at = centre(place, axis);
        return at + to_nearest_image(at - centre(near, axis), period);
    }
};

} // namespace farfield
