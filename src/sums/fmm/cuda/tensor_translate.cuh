// M2L on tensor cores, for short expansions in float: a thread block takes a block of 4³ parents and octants
// of their children. 32 numbers of the expansions of all senders fit into its shared memory, so that each is
// read once; its warps share the offsets, and each matrix serves up to 64 targets.
#pragma once

#include "backend/cuda/memory.h"
#include "sums/fmm/tensor_operators.h"
#include "sums/tree/tree_view.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace farfield::cuda {

/// A block of parents.
struct TensorBlock {
    std::int32_t level;    ///< of the parents
    std::int32_t cell;     ///< their ancestor two levels above, where there is such a level
    std::int32_t index[3]; ///< of the block, in blocks
    std::int32_t unused[3];
};

/// Translations across levels but the coarsest.
class TensorTranslation {
public:
    /// Whether the current GPU has the shared memory that it takes.
    static bool fits_gpu();
    TensorTranslation(const PlainOperators<float>& of, cudaStream_t stream);

    /// Finds the blocks of a tree whose targets lie on levels [first_level, end_level), the coarsest left
    /// out.
    void prepare(const TreeView& tree, int first_level, int end_level, int cells, cudaStream_t stream);
    /// Local expansions of those levels' cells with targets replace what `to` held.
    void run(const TreeView& tree, const float* from, float* to, cudaStream_t stream) const;

private:
    int size_, levels_;
    int multiprocessors_ = 1;
    std::int32_t matrices_a_level_;
    DeviceArray<std::uint16_t> fragments_;
    DeviceArray<std::uint8_t> sizes_;
    DeviceArray<float> unscales_;
    DeviceArray<TensorSender> senders_;
    DeviceArray<std::int32_t> first_sender_;
    DeviceArray<TensorBlock> blocks_;
    DeviceArray<std::uint8_t> tiles_; ///< of targets, for each octant of each block
    DeviceArray<std::int32_t> block_count_;
};

} // namespace farfield::cuda
