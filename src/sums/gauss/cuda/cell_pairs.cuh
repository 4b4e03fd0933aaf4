// Pairs of Gaussians up to a cut-off on a GPU, by boxes of a lattice.
#pragma once

#include "sums/gauss/cuda/sorted_points.cuh"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace farfield::cuda {

/// Points sorted by boxes, in rows of `boxed_columns`.
struct CellPairTask {
    LatticeOnGpu lattice;
    const double* sources = nullptr;
    const std::uint64_t* source_keys = nullptr;
    int source_count = 0;
    const double* targets = nullptr;
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

/// In numbers of type Real, but for distances between boxes and sums of many terms; with loops over D axes, 3
/// for up to three.
template <int D, class Real>
void add_cell_pairs_in(const CellPairTask& task, cudaStream_t stream);

template <class Real>
void add_cell_pairs(const CellPairTask& task, cudaStream_t stream) {
    switch (task.lattice.dimension) {
    case 4:
        return add_cell_pairs_in<4, Real>(task, stream);
    case 5:
        return add_cell_pairs_in<5, Real>(task, stream);
    case 6:
        return add_cell_pairs_in<6, Real>(task, stream);
    default:
        return add_cell_pairs_in<3, Real>(task, stream);
    }
}

} // namespace farfield::cuda
