// Pairs of Gaussians up to a cut-off on a GPU, by boxes of a lattice.
#pragma once

#include "backend/cuda/vec4.h"
#include "sums/gauss/cuda/sorted_points.cuh"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace farfield::cuda {

/// Points sorted by boxes, counted from the lattice's lowest corner in the frame; w is the strength.
struct CellPairTask {
    LatticeOnGpu lattice;
    const Vec4<double>* sources = nullptr;
    const std::uint64_t* source_keys = nullptr;
    int source_count = 0;
    const Vec4<double>* targets = nullptr;
    const std::int32_t* from = nullptr; ///< the caller's row of each target
    int target_count = 0;
    bool without_own = false; ///< targets are the sources, and a point does not count itself
    double cutoff = 0.0, sigma = 1.0;
    int potential_exponent = 0, gradient_exponent = 0; ///< powers of two that results are multiplied by
    double* potential = nullptr;                       ///< M, or null
    double* gradient = nullptr;                        ///< M×d, or null
    int* not_finite = nullptr;
    unsigned long long* pairs = nullptr; ///< how many are computed is added
};

/// In numbers of type Real, but for distances between boxes and sums of many terms.
template <class Real>
void add_cell_pairs(const CellPairTask& task, cudaStream_t stream);

} // namespace farfield::cuda
