// Launches of the rungs over device memory: what device_sum.cu and simulations on the GPU share.
#pragma once

#include "backend/cuda/memory.h"
#include "backend/cuda/workspace.h"
#include "sums/direct/cuda/division.h"
#include "sums/direct/cuda/pair.cuh"
#include "sums/direct/cuda/rungs.h"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

namespace farfield::cuda {

/// A body of the rungs before `soa`: the ten numbers of a simulation's particle.
template <class Real>
struct Body {
    Real mass, x, y, z, velocity[3], acceleration[3];
};

/// The arrays of the rungs from `soa` on.
template <class Real>
struct Arrays {
    const Real *x, *y, *z, *mass;
};

/// A sum over bodies in the layouts of the tutorial rungs; targets are the sources.
template <class Real>
struct LadderTask {
    const Body<Real>* bodies = nullptr; ///< one-thread, naive
    Arrays<Real> arrays{};              ///< soa to fast-math
    Vec4<Real>* sums = nullptr;         ///< n
    int n = 0;
    Real softening2 = 0;
    int outputs = field_and_potential;
};

/// A sum over packed points. `targets == sources + first_target` means that the targets are sources, and no
/// point acts on itself.
template <class PointType>
struct PointTask {
    const PointType* sources = nullptr;
    const PointType* targets = nullptr;
    int n_sources = 0;
    int n_targets = 0;
    typename PointType::real softening2 = 0;
    int outputs = field_and_potential;
    Vec4<typename PointType::real>* sums = nullptr; ///< n_targets
    int first_target = 0;
    /// Where other parts compute other targets: the number of all, which decides how sources are cut.
    int all_targets = 0;
};

/// N as the kernels count it. @throws InvalidArgument for N ≥ 2³¹ − 2²⁰.
int checked_count(std::size_t n);

/// Rungs one-thread to fast-math, the Handbook's left out. All work is queued on `stream`.
template <class Real>
void launch_ladder(Rung rung, const LadderTask<Real>& task, cudaStream_t stream);

/// The rungs of the CUDA Handbook; targets must be the sources, outputs the field alone.
void launch_handbook(Rung rung, const PointTask<Point<float>>& task, Workspace& workspace,
                     cudaStream_t stream);

/// Several targets a thread; any targets.
template <class PointType>
void launch_register_tile(const PointTask<PointType>& task, Workspace& workspace, cudaStream_t stream);

/// Each pair once; targets must be the sources.
template <class PointType>
void launch_symmetric(const PointTask<PointType>& task, Workspace& workspace, cudaStream_t stream);

/// Each pair once, far tiles on tensor cores; targets must be the sources, outputs the field alone.
void launch_tensor(const PointTask<Point<float>>& task, Workspace& workspace, cudaStream_t stream);

/// What part `part` of `parts` does in a symmetric sum over n ≥ 1 points.
template <class PointType>
Share symmetric_share(int n, int part, int parts);

/// That part: the whole sum, or sums of its subtrees for all points on `stack` (share.depth·n).
template <class PointType>
void launch_symmetric_share(const PointTask<PointType>& task, const Share& share, Workspace& workspace,
                            Vec4<double>* stack, cudaStream_t stream);

/// Take the workspace and load the kernels, which a launch that is recorded into a graph cannot do.
template <class PointType>
void prepare_symmetric(const PointTask<PointType>& task, const Share& share, Workspace& workspace);
template <class PointType>
void prepare_register_tile(const PointTask<PointType>& task, Workspace& workspace);

/// Adds the subtrees of all parts for `n` points: subtree k at node[k], in the order of `subtrees`.
template <class Real>
void launch_subtrees(const std::vector<const Vec4<double>*>& node, const std::vector<Subtree>& subtrees,
                     int n, Vec4<Real>* sums, cudaStream_t stream);

} // namespace farfield::cuda
