// Several kernels, and several steps of them, in one pass over memory. The pass works on slabs: the rows of a
// 2D grid, the planes of a 3D one, the whole of a 1D one. A front moves over the slabs; entry i of the
// sequence does slab f − lag_i when the front is at f, so late that all it needs is done, and so early that
// nothing it needs is overwritten.
//
// Threads: the slabs are cut into blocks. First each block is done where it depends on no other, its ends
// receding from entry to entry; then what is left around the cuts, the seams. Either kind is independent
// among itself. A thread does its block and then the seam above it, as soon as the next block has done the
// slabs that the seam looks at, which are its first. Every cell is computed from the same values in the same
// way as without all this.
#pragma once

#include "backend/threads/parallel.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
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

/// Slabs, rows or planes from `first` to before `last`.
struct IndexRange {
    std::int64_t first = 0;
    std::int64_t last = 0;
};

/// Two entries that can be one on slabs where those between them have no cells.
struct Pair {
    std::size_t first = 0;
    std::size_t second = 0;
    IndexRange apart; ///< slabs that may have such cells
};

class Wavefront {
public:
    /// Nothing where the slabs are too few for the sequence.
    /// @param costs of the slabs, one each, by which they are shared out.
    static std::optional<Wavefront> plan(const std::vector<Entry>& entries, const std::vector<Pair>& pairs,
                                         const std::vector<std::int64_t>& costs, int threads);

    /// Calls work(item, first, last) until all slabs of all entries are done, in an order that keeps all
    /// dependences; each call is for slabs first to last − 1. An item is the number of an entry or, behind
    /// those of all entries, of a pair, which stands for both. A block is always done by the same thread.
    /// @param stride how far the front moves at a time, at least 1
    template <class Work>
    void run(std::int64_t stride, const Work& work) const {
        const auto count = blocks_.size();
        const std::unique_ptr<Open[]> open(new Open[count]);
        parallel_own_twice(static_cast<int>(count), [&](int round, std::int64_t t) {
            if (round == 0) {
                const Opened opened{open[t]};
                const auto& block = blocks_[t];
                sweep(block, 0, block.open, stride, work);
                open[t].store(true, std::memory_order_release);
                sweep(block, block.open, block.phases.size(), stride, work);
            } else if (static_cast<std::size_t>(t) < seams_.size()) {
                const auto& next = open[(t + 1) % count];
                while (!next.load(std::memory_order_acquire)) std::this_thread::yield();
                sweep(seams_[t], 0, seams_[t].phases.size(), stride, work);
            }
        });
    }

private:
    /// What an item does while the front moves.
    struct Lane {
        int item = 0;
        std::int64_t first = 0; ///< fronts
        std::int64_t last = 0;
        std::int64_t offset = 0; ///< slab = front + offset
    };
    /// An item of a phase.
    struct ActiveItem {
        int item = 0;
        std::int64_t offset = 0;
    };
    /// Fronts at which the same items work.
    struct Phase {
        std::int64_t first = 0;
        std::int64_t last = 0;
        std::size_t begin = 0; ///< in active
        std::size_t end = 0;
    };
    struct Sweep {
        std::vector<Phase> phases;
        std::vector<ActiveItem> active;
        std::size_t open = 0; ///< before this phase the slabs are done that the seam below looks at
    };
    /// Whether a block has come so far, each in a line of the cache of its own.
    struct alignas(64) Open : std::atomic<bool> {};
    /// Lets nobody wait for a block that failed.
    struct Opened {
        Open& open;
        ~Opened() { open.store(true, std::memory_order_release); }
    };

    template <class Work>
    static void sweep(const Sweep& sweep, std::size_t first, std::size_t last, std::int64_t stride,
                      const Work& work) {
        for (auto p = first; p < last; ++p) {
            const auto& phase = sweep.phases[p];
            const auto* begin = sweep.active.data() + phase.begin;
            const auto* end = sweep.active.data() + phase.end;
            for (auto front = phase.first; front < phase.last; front += stride) {
                const auto next = std::min(front + stride, phase.last);
                for (const auto* one = begin; one != end; ++one)
                    work(one->item, front + one->offset, next + one->offset);
            }
        }
    }

    /// Whether entries first to last do the same slabs at the same time, one after the other.
    bool together(std::size_t first, std::size_t last) const;
    void cut(const std::vector<std::int64_t>& costs, std::int64_t blocks, std::int64_t least);
    /// How far down a thread's share reaches on average, below its block.
    std::int64_t mean_recede() const;
    /// The slabs of each entry in a block or seam, before they are wrapped around.
    std::vector<IndexRange> block_ranges(std::size_t block) const;
    std::vector<IndexRange> seam_ranges(std::size_t cut) const;
    /// In the order of the entries; an entry that wraps around has two.
    std::vector<Lane> lanes_of(const std::vector<IndexRange>& ranges, const std::vector<Pair>& pairs) const;
    /// @param open front from which on the sweep is open.
    static Sweep sweep_of(const std::vector<Lane>& lanes, std::int64_t open);

    std::int64_t slabs_ = 0;
    bool around_ = false;
    std::vector<int> lags_;          ///< also how far the upper end of a block recedes
    std::vector<int> recedes_;       ///< how far the lower end does
    std::vector<IndexRange> cells_;  ///< the slabs with cells of each entry
    std::vector<std::int64_t> cuts_; ///< first slabs of the blocks, and the number of slabs
    std::vector<Sweep> blocks_;
    std::vector<Sweep> seams_; ///< above each block; not above the last one where that is the end
};

} // namespace farfield::stencil::cpu
