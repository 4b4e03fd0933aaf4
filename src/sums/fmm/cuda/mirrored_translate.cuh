// M2L on a GPU, all mirror images of an offset at once (mirrored_operators.h). A thread block takes targets
// of one octant and all of their senders; each of its warps has the rows of one parity.
#pragma once

#include "backend/cuda/memory.h"
#include "sums/fmm/mirrored_operators.h"
#include "sums/tree/cuda/device_tree.cuh"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

namespace farfield::cuda {

/// Targets [first, first + count) of `by_octant`; in `up_group` cells. Of the classes of offsets, those whose
/// numbers leave `part` where `parts` divides them.
struct MirroredTile {
    std::int32_t first, count, group, level;
    std::int32_t part, parts;
};

template <class Real>
class MirroredTranslation {
public:
    /// Whether expansions are short enough for registers, and the current GPU has the shared memory.
    static bool fits(const PlainOperators<Real>& of);
    MirroredTranslation(const MirroredOperators<Real>& of, int expansion_stride, cudaStream_t stream);

    /// Cuts the targets of a tree into tiles. Levels [first_level, end_level) send across.
    void prepare(const DeviceTree& tree, int first_level, int end_level, cudaStream_t stream);
    /// Multipole expansions of leaves become those of the cells above, up to `first_level` or, if that is
    /// deeper, `first`.
    void climb(const DeviceTree& tree, int first, Real* multipoles, cudaStream_t stream);
    /// Takes the multipole expansions of cells [begin, end) as they are.
    void take(const Real* multipoles, std::int32_t begin, std::int32_t end, cudaStream_t stream);
    /// Afterwards: local expansions of the cells with targets replace what they held.
    void run(const DeviceTree& tree, Real* locals, cudaStream_t stream);

private:
    void launch(const DeviceTree& tree, int first, int end, Real* to, Real* sorted, cudaStream_t stream);

    int expansion_stride_, stride_, levels_, classes_, most_groups_;
    int coarse_parts_;       ///< thread blocks share the many offsets of the coarsest level
    int coarse_targets_ = 0; ///< cells with targets there
    std::int32_t begin_[parities], counts_[parities];
    DeviceArray<std::int32_t> functions_, places_, first_step_;
    DeviceArray<MirroredStep> steps_;
    DeviceArray<Real> matrices_;
    DeviceArray<Real> partial_;      ///< local expansions of the coarsest level, of each part
    DeviceArray<Real> sorted_;       ///< multipole expansions, functions sorted by parity
    std::vector<MirroredTile> made_; ///< stays while it is copied
    DeviceArray<MirroredTile> tiles_;
    std::vector<int> up_; ///< where the tiles of each pass up begin, and the end
};

} // namespace farfield::cuda
