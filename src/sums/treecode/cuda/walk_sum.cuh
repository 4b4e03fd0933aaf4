// Sums at groups of targets on a GPU: each walks through the tree, and adds up what it meets.
#pragma once

#include "backend/cuda/vec4.h"
#include "sums/tree/tree_view.h"
#include "sums/treecode/cuda/walk_cell.cuh"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace farfield::cuda {

/// Targets that share a walk, at most: two to each lane of a warp.
constexpr int device_group = 64;

template <class Real>
struct WalkTask {
    TreeView tree;
    const WalkCell* cells = nullptr;
    const Real* numbers = nullptr; ///< of each cell, as `add_far_value` takes them; null: monopoles alone
    int order = 1;
    const Vec4<double>* sources = nullptr; ///< in the order of the tree, strengths in w
    const Vec4<double>* targets = nullptr;
    const BlockRange* groups = nullptr;
    const std::int32_t* group_count = nullptr;
    BlockRange rows{0, 0x7fffffff}; ///< of targets: groups without any of these are left out
    double softening2 = 0.0;
    double least = 1.0;    ///< radii of a cell beyond which it may act by its expansion
    bool estimate = false; ///< reaches of cells count, too
    int few = 1;           ///< cells with no more sources than this act point by point
    bool mends = false;    ///< floats: differences of near points keep their digits
    int outputs = 0;
    Vec4<double>* sums = nullptr;        ///< of each target, in the order of the tree: *written*
    std::int32_t* next = nullptr;        ///< the next group that nobody has taken; 0 at first
    unsigned long long* pairs = nullptr; ///< near ones and far ones are *added*
};

void walk_sum(const WalkTask<float>& task, cudaStream_t stream);
void walk_sum(const WalkTask<double>& task, cudaStream_t stream);

} // namespace farfield::cuda
