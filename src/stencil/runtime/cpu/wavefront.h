// Several kernels, and several steps of them, in one pass over memory. The pass works on slabs: the rows of a
// 2D grid, the planes of a 3D one, the whole of a 1D one. A front moves over the slabs; entry i of the
// sequence does slab f − lag_i when the front is at f, so late that all it needs is done, and so early that
// nothing it needs is overwritten.
//
// Threads: the slabs are cut into blocks. First each block is done where it depends on no other, its ends
// receding from entry to entry; then what is left around the cuts, the seams. Either kind is independent
// among itself. Every cell is computed from the same values in the same way as without all this.
#pragma once

#include <cstdint>
#include <functional>
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
    /// @param blocks as many as there may be, at least 1; there will be fewer where slabs are few.
    static std::optional<Wavefront> plan(const std::vector<Entry>& entries, std::int64_t slabs,
                                         std::int64_t blocks);

    /// Calls work(entry, slab) for each slab of each entry in an order that keeps all dependences, on up to
    /// `threads` threads.
    void run(int threads, const std::function<void(int entry, std::int64_t slab)>& work) const;

    /// Whether entries first to last do the same slabs at the same time, one after the other.
    bool together(std::size_t first, std::size_t last) const;
    std::int64_t blocks() const { return static_cast<std::int64_t>(cuts_.size()) - 1; }

private:
    void sweep(const std::vector<Range>& ranges, const std::function<void(int, std::int64_t)>& work) const;
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
