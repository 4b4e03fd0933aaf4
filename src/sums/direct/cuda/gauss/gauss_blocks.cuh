// Every pair of Gaussians in 1 to 6 dimensions on a GPU: a thread has some targets in registers, a block's
// sources are in shared memory, and parts of the sources are summed side by side and added up in their order.
// Sums of a tile of sources are of the type of the loop, those of tiles double.
#pragma once

#include "backend/cuda/memory.h"
#include "sums/kernels/exact.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace farfield::cuda {

/// Coordinates, in units in which a Gaussian is 2^−r², an array an axis; and in precision `mixed` what
/// rounding took off them, behind all arrays of coordinates.
template <class Real>
struct GaussCoordinates {
    const Real* x = nullptr; ///< d or 2d arrays of `count`
    int count = 0;
};

/// Rows of 1 to 6 coordinates as they were read.
struct GaussRows {
    const double* coordinates = nullptr;
    int count = 0, dimension = 1;
};

struct GaussFrameOnGpu {
    double centre[most_dimensions] = {};
    double factor = 1.0; ///< 2^exponent
    double scale = 1.0;  ///< from lengths of the frame to those of the loop
};

template <class Real>
void set_gauss_coordinates(const GaussRows& rows, const GaussFrameOnGpu& frame, bool with_low, Real* out,
                           cudaStream_t stream);
template <class Real>
void set_gauss_strengths(const double* strengths, int count, int exponent, Real* out, cudaStream_t stream);

/// Parts of the sources for so many targets.
int gauss_parts(int targets, int sources);

template <class Real>
struct GaussBlockTask {
    int dimension = 1;
    bool mixed = false, with_gradient = false;
    bool without_own = false; ///< targets are the sources, and a point does not count itself
    GaussCoordinates<Real> targets, sources;
    const Real* strengths = nullptr;
    int parts = 1;
    double* sums = nullptr; ///< [part][column][target]; the potential, and with it the gradient's axes
};
template <class Real>
void add_gauss_blocks(const GaussBlockTask<Real>& task, cudaStream_t stream);

/// Adds up the parts, in the caller's units.
struct GaussFinishTask {
    int dimension = 1, targets = 0, parts = 1, columns = 1;
    const double* sums = nullptr;
    double gradient_factor = 1.0; ///< of the frame
    int potential_exponent = 0, gradient_exponent = 0;
    double* potential = nullptr; ///< M, or null
    double* gradient = nullptr;  ///< M×d, or null
    int* not_finite = nullptr;
};
void finish_gauss_blocks(const GaussFinishTask& task, cudaStream_t stream);

} // namespace farfield::cuda
