// Launches of the rungs over device memory: what device_sum.cu and simulations on the GPU share.
#pragma once

#include "backend/cuda/memory.h"
#include "sums/direct/cuda/pair.cuh"
#include "sums/direct/cuda/rungs.h"

#include <cuda_runtime_api.h>

#include <cstddef>

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
    Arrays<Real> arrays{};              ///< soa to flush, two-loops, atomics…
    Vec4<Real>* sums = nullptr;         ///< n
    int n = 0;
    Real softening2 = 0;
    int outputs = field_and_potential;
};

/// A sum over packed points. `targets == sources` means that no point acts on itself.
template <class PointType>
struct PointTask {
    const PointType* sources = nullptr;
    const PointType* targets = nullptr;
    int n_sources = 0;
    int n_targets = 0;
    typename PointType::real softening2 = 0;
    int outputs = field_and_potential;
    Vec4<typename PointType::real>* sums = nullptr; ///< n_targets
};

/// N as the kernels count it. @throws InvalidArgument for N ≥ 2³¹ − 2²⁰.
int checked_count(std::size_t n);

/// Scratch memory of one stream, grown when a launch needs more.
class Workspace {
public:
    /// At least `bytes`; contents are lost when it grows. @throws DeviceError where the GPU's memory is full.
    void* reserve(std::size_t bytes) {
        if (memory_.size() < bytes) {
            memory_ = {}; // give the old block back first
            memory_ = DeviceArray<std::byte>(bytes);
        }
        return memory_.data();
    }

private:
    DeviceArray<std::byte> memory_;
};

/// Rungs one-thread to flush, two-loops and the atomics. All work is queued on `stream`.
template <class Real>
void launch_ladder(Rung rung, const LadderTask<Real>& task, cudaStream_t stream);

/// Several targets a thread; any targets.
template <class PointType>
void launch_register_tile(const PointTask<PointType>& task, Workspace& workspace, cudaStream_t stream);

/// Each pair once; targets must be the sources.
template <class PointType>
void launch_symmetric(const PointTask<PointType>& task, Workspace& workspace, cudaStream_t stream);

} // namespace farfield::cuda
