// M2M and L2L of the levels at the top of a tree, which have few cells: all of them in one launch, whose
// thread blocks wait for one another between levels. A launch for each level would mostly wait to begin.
#pragma once

#include "sums/fmm/cuda/translate.cuh"
#include "sums/tree/cuda/device_tree.cuh"

#include <cuda_runtime_api.h>

namespace farfield::cuda {

/// Levels [first, end).
struct LevelSpan {
    int first = 0, end = 0;
    [[nodiscard]] int size() const { return end - first; }
};

/// Those from `first` on that are narrow, as far as all before them are, but not the deepest; none where they
/// are too few to be worth a launch of their own, or one cell's product takes longer than a launch.
template <class Real>
LevelSpan narrow_levels(const DeviceTree& tree, const PlainOperators<Real>& operators, int first);

/// M2M of the cells of these levels, from their children. `task` is that of a pass up; its tiles are of no
/// use.
template <class Real>
void climb_narrow(const TranslateTask<Real>& task, const PlainOperators<Real>& operators,
                  const DeviceTree& tree, LevelSpan levels, cudaStream_t stream);

/// L2L to the cells of these levels, from their parents; the first level of a tree has none. `task` is that
/// of a pass down.
template <class Real>
void descend_narrow(const TranslateTask<Real>& task, const PlainOperators<Real>& operators,
                    const DeviceTree& tree, LevelSpan levels, cudaStream_t stream);

} // namespace farfield::cuda
