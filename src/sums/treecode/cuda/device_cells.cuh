// The sources of the cells of a tree on a GPU: what SourceCells is on the CPU, and the groups of targets.
#pragma once

#include "backend/cuda/memory.h"
#include "sums/expansions/cartesian_terms.h"
#include "sums/tree/cuda/device_tree.cuh"
#include "sums/treecode/cuda/walk_cell.cuh"
#include "sums/treecode/shape.h"

#include <cuda_runtime_api.h>

namespace farfield::cuda {

class DeviceCells {
public:
    /// Brings the tables of the order to the GPU.
    void prepare(const TreecodeShape& shape, cudaStream_t stream);

    /// P2M and M2M. @param strengths  in the caller's order, counted by 2^exponent: they become the w of the
    /// tree's sources @param monopoles  there is nothing but monopoles to evaluate
    void make(DeviceTree& tree, const double* strengths, int exponent, const TreecodeShape& shape,
              bool monopoles, cudaStream_t stream);

    [[nodiscard]] const WalkCell* cells() const { return cells_.data(); }
    /// The expansions as `add_far_value` takes them, of each cell: floats, or doubles where the shape is
    /// wide.
    [[nodiscard]] const float* floats() const { return floats_.data(); }
    [[nodiscard]] const double* doubles() const { return doubles_.data(); }

private:
    [[nodiscard]] CartesianTerms terms() const;

    int order_ = -1; ///< of the tables
    DeviceArray<FarTerm> number_terms_;
    DeviceArray<ShiftTerm> shift_terms_[3];
    DeviceArray<int> degree_;
    CartesianTerms on_host_;
    DeviceArray<WalkCell> cells_;
    DeviceArray<double> radii_, second_, moments_;
    DeviceArray<float> floats_;
    DeviceArray<double> doubles_;
};

/// Targets that share a walk (group_rule.h): by parents, not by the curve as target_nodes has them on the
/// CPU.
class DeviceGroups {
public:
    void make(const DeviceTree& tree, int most, cudaStream_t stream);

    [[nodiscard]] const BlockRange* ranges() const { return ranges_.data(); }
    [[nodiscard]] const std::int32_t* count() const { return count_; } ///< on the GPU

private:
    DeviceArray<std::int32_t> counts_, first_;
    DeviceArray<BlockRange> ranges_;
    const std::int32_t* count_ = nullptr;
    Workspace workspace_;
};

} // namespace farfield::cuda
