// What sums over blocks take of a tree's leaves on a GPU.
#pragma once

#include "backend/cuda/vec4.h"
#include "sums/tree/tree_view.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace farfield::cuda {

/// Points counted from the centre of their leaf, and the centres, with the leaf's width as w; without `out`
/// the centres alone.
template <class Real>
struct CentreTask {
    TreeView tree;
    const Vec4<double>* points = nullptr;
    const std::int32_t* leaves = nullptr;
    int count = 0;
    bool of_targets = false;
    Vec4<Real>* out = nullptr;
    Vec4<double>* centres = nullptr;
    BlockRange* ranges = nullptr;
};

template <class Real>
void centre_points(const CentreTask<Real>& task, cudaStream_t stream);

} // namespace farfield::cuda
