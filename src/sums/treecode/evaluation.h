// Sums at a group of targets from what its walk has found.
#pragma once

#include "base/aligned.h"
#include "sums/direct/cpu/blocks/block_sum.h"
#include "sums/treecode/walk.h"

#include <vector>

namespace farfield {

/// What a task needs to evaluate expansions at groups.
template <class T>
struct FarScratch {
    AlignedVector<T> x[3], places;
    std::vector<const void*> numbers;
    AlignedVector<double> spare; ///< the field where nobody wants it
};

/// Adds what cells do at the targets of a group (M2P).
template <class T>
void add_far(const Octree& tree, const SourceCells& cells, const TreecodeShape& shape,
             const TargetGroup& group, const Interactions& from, const BlockSumTask& task,
             FarScratch<T>& scratch);

/// Adds what sources do there, pair by pair (P2P). Returns the number of pairs.
double add_near(const TargetGroup& group, const Interactions& from, bool self, const BlockSumTask& task);

extern template void add_far<float>(const Octree&, const SourceCells&, const TreecodeShape&,
                                    const TargetGroup&, const Interactions&, const BlockSumTask&,
                                    FarScratch<float>&);
extern template void add_far<double>(const Octree&, const SourceCells&, const TreecodeShape&,
                                     const TargetGroup&, const Interactions&, const BlockSumTask&,
                                     FarScratch<double>&);

} // namespace farfield
