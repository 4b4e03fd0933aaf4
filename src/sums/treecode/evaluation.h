// Sums at a group of targets from what its walk has found.
#pragma once

#include "base/aligned.h"
#include "sums/direct/cpu/blocks/block_sum.h"
#include "sums/expansions/local.h"
#include "sums/treecode/walk.h"

#include <array>
#include <vector>

namespace farfield {

/// Coordinates of targets by axis; groups are rows of these.
using TargetRows = std::array<RawVector<double>, 3>;

/// What a task needs to evaluate expansions at groups.
template <class T>
struct FarScratch {
    AlignedVector<T> x[3], places;
    std::vector<const void*> numbers;
    AlignedVector<double> spare; ///< the field where nobody wants it
};

/// What acts on a node from afar, as a polynomial about its centre.
struct LocalExpansion {
    bool empty = true;
    double unit = 1.0; ///< of length, in which offsets count: no less than the node's radius
    double polynomial[local_numbers] = {};

    /// The same about the centre of a node within.
    [[nodiscard]] LocalExpansion about(const TargetNode& outer, const TargetNode& inner) const;
};

/// What a task needs for local expansions.
template <class T>
struct LocalScratch {
    AlignedVector<T> d[3], strengths;
    AlignedVector<double> spare; ///< the field where nobody wants it
};

/// Adds what cells do through the local expansion of a node (M2L).
template <class T>
void add_local(const SourceCells& cells, const TargetNode& node, const Interactions& from,
               const BlockSumTask& task, LocalExpansion& to, LocalScratch<T>& scratch);

/// Adds what a local expansion says of the targets of a group (L2P).
template <class T>
void add_local_values(const TargetRows& targets, const TargetNode& group, const LocalExpansion& local,
                      const BlockSumTask& task, LocalScratch<T>& scratch);

/// Adds what cells do at the targets of a group (M2P).
template <class T>
void add_far(const TargetRows& targets, const SourceCells& cells, const TreecodeShape& shape,
             const TargetNode& group, const GroupInteractions& from, const BlockSumTask& task,
             FarScratch<T>& scratch);

/// Adds what sources do there, pair by pair (P2P). Returns the number of pairs.
double add_near(const TargetNode& group, const GroupInteractions& from, bool self, const BlockSumTask& task);

extern template void add_far<float>(const TargetRows&, const SourceCells&, const TreecodeShape&,
                                    const TargetNode&, const GroupInteractions&, const BlockSumTask&,
                                    FarScratch<float>&);
extern template void add_far<double>(const TargetRows&, const SourceCells&, const TreecodeShape&,
                                     const TargetNode&, const GroupInteractions&, const BlockSumTask&,
                                     FarScratch<double>&);

extern template void add_local<float>(const SourceCells&, const TargetNode&, const Interactions&,
                                      const BlockSumTask&, LocalExpansion&, LocalScratch<float>&);
extern template void add_local<double>(const SourceCells&, const TargetNode&, const Interactions&,
                                       const BlockSumTask&, LocalExpansion&, LocalScratch<double>&);
extern template void add_local_values<float>(const TargetRows&, const TargetNode&, const LocalExpansion&,
                                             const BlockSumTask&, LocalScratch<float>&);
extern template void add_local_values<double>(const TargetRows&, const TargetNode&, const LocalExpansion&,
                                              const BlockSumTask&, LocalScratch<double>&);
} // namespace farfield
