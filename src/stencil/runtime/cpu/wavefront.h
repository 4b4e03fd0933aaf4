// Several kernels, and several steps of them, in one pass over memory. The pass works on slabs: the rows of a
// 2D grid, the planes of a 3D one, the whole of a 1D one. A front moves over the slabs; entry i of the
// sequence does slab f − lag_i when the front is at f, so late that all it needs is done, and so early that
// nothing it needs is overwritten.
//
// Threads: the slabs are cut into blocks. First each block is done where it depends on no other, its ends
// receding from entry to entry; then what is left around the cuts, the seams. Either kind is independent
// among itself. Every cell is computed from the same values in the same way as without all this.
#pragma once

#include "backend/threads/parallel.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace farfield::stencil::cpu {

/// Slabs of a buffer's copy that an entry touches when it works on slab s: s + first to s + last.
struct Touch {
    int memory = 0; ///< number of the copy of a buffer
    int first = 0;
    int last = 0;
    bool writes = false;
};

/// An entry of the sequence: a kernel in a step.
struct Entry {
    std::vector<Touch> touches;
    bool around = false; ///< touches leave one end of the slabs and come in at the other
    std::int64_t first_slab = 0;
    std::int64_t last_slab = 0; ///< the slabs with cells are first_slab to last_slab − 1
};

/// Slabs of an entry in a block or seam, before they are wrapped around.
struct Range {
    std::int64_t first = 0;
    std::int64_t last = 0;
};

class Wavefront {
public:
    /// Nothing where the slabs are too few for the sequence.
    /// @param costs of the slabs, one each, by which they are shared out.
    static std::optional<Wavefront> plan(const std::vector<Entry>& entries,
                                         const std::vector<std::int64_t>& costs, int threads);

    /// Calls work(entry, slab) for each slab of each entry in an order that keeps all dependences. A block is
    /// always done by the same thread.
    template <class Work>
    void run(const Work& work) const {
        const auto count = static_cast<int>(blocks());
        parallel_own(count, [&](std::int64_t block) { sweep(block_ranges(block), work); });
        // The cut at slab 0 is that at the end, where there is one.
        const int seams = around_ ? count : count - 1;
        if (seams > 0) parallel_own(seams, [&](std::int64_t seam) { sweep(seam_ranges(seam + 1), work); });
    }

    /// Whether entries first to last do the same slabs at the same time, one after the other.
    bool together(std::size_t first, std::size_t last) const;
    std::int64_t blocks() const { return static_cast<std::int64_t>(cuts_.size()) - 1; }

private:
    /// An entry's slabs in a sweep, by the front that stands there when they are done.
    struct Lane {
        int entry = 0;
        std::int64_t first = 0;
        std::int64_t last = 0;
        std::int64_t offset = 0; ///< slab = front + offset
    };

    template <class Work>
    void sweep(const std::vector<Range>& ranges, const Work& work) const {
        const auto lanes = lanes_of(ranges);
        auto first = lanes.empty() ? 0 : lanes[0].first;
        auto last = first;
        for (const auto& lane : lanes) {
            first = std::min(first, lane.first);
            last = std::max(last, lane.last);
        }
        for (auto front = first; front < last; ++front)
            for (const auto& lane : lanes)
                if (front >= lane.first && front < lane.last) work(lane.entry, front + lane.offset);
    }
    /// In the order of the entries; an entry that wraps around has two.
    std::vector<Lane> lanes_of(const std::vector<Range>& ranges) const;
    void cut(const std::vector<std::int64_t>& costs, std::int64_t blocks, std::int64_t least);
    std::vector<Range> block_ranges(std::int64_t block) const;
    std::vector<Range> seam_ranges(std::int64_t cut) const;

    std::int64_t slabs_ = 0;
    bool around_ = false;
    std::vector<int> lags_;          ///< also how far the upper end of a block recedes
    std::vector<int> recedes_;       ///< how far the lower end does
    std::vector<Range> cells_;       ///< the slabs with cells of each entry
    std::vector<std::int64_t> cuts_; ///< first slabs of the blocks, and the number of slabs
};

} // namespace farfield::stencil::cpu
