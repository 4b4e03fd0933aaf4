// Strengths on their way into a quadtree on a GPU, and sums on their way out of it.
#pragma once

#include "backend/cuda/memory.h"
#include "backend/cuda/vec4.h"
#include "sums/fmm/plane/tensor_operators.h"
#include "sums/points/prepared.h"
#include "sums/tree/tree_view.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace farfield::cuda {

/// The caller's sources and strengths, N×2 and N×columns, to the sources of a tree.
struct PlaneSourceTask {
    const double* sources = nullptr;
    const double* strengths = nullptr;
    int columns = 1, exponent = 0; ///< strengths count times 2^exponent
    Frame frame;
    TreeView tree;
    const std::int32_t* leaves = nullptr;
    int count = 0;                      ///< of leaves
    const std::int32_t* from = nullptr; ///< source i of the tree is the caller's from[i]
    Vec4<double>* points = nullptr;     ///< are set: in the frame; or null
};
/// @param near  gets the sources, from the centres of their leaves
template <class Real>
void set_plane_sources(const PlaneSourceTask& task, Vec4<Real>* near, cudaStream_t stream);

constexpr int total_parts = 256;
/// Σ of all strengths, N×columns, times 2^exponent, in an order that depends on their number alone. `parts`
/// has `total_parts` numbers; the sum ends in the first one.
void add_up_strengths(const double* strengths, int columns, int count, int exponent, PlaneNumber* parts,
                      cudaStream_t stream);

/// Sums in the order of the tree become the caller's results, N×columns and N×2 in pairs that are aligned as
/// such (direct/plane/plane_results.h has the formulas).
template <class Real>
struct PlaneResultTask {
    const Vec4<Real>* near = nullptr;  ///< of plane_pairs.cuh
    const Vec4<double>* far = nullptr; ///< (Re w, −Im w), and Re F of each set; null: there is no far field
    const Vec4<float>* narrow_far = nullptr; ///< in its place
    const std::int32_t* where = nullptr;     ///< each of the caller's targets is in the tree
    int count = 0;
    const double* strengths = nullptr; ///< the caller's; null: targets are no sources
    int columns = 1;                   ///< of strengths and potentials
    const PlaneNumber* total = nullptr;
    double shift = 0.0; ///< e ln 2 of lengths that are the caller's times 2^e
    bool turned = false;
    double sign = 1.0;
    int strength_exponent = 0, field_exponent = 0;
    double* potential = nullptr; ///< M×columns, or null
    double* field = nullptr;     ///< M×2, or null
    int* not_finite = nullptr;
};
template <class Real>
void write_plane_sums(const PlaneResultTask<Real>& task, cudaStream_t stream);

} // namespace farfield::cuda
