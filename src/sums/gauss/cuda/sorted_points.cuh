// Points on a GPU, sorted by the cells of a grid or the boxes of a lattice. Only what kernels need of them is
// kept in that order.
#pragma once

#include "backend/cuda/memory.h"
#include "backend/cuda/workspace.h"
#include "sums/gauss/boxes/lattice.h"
#include "sums/gauss/cuda/sparse.cuh"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace farfield::cuda {

/// Boxes of a lattice as kernels see them, and points counted from their lowest corner in the frame.
struct LatticeOnGpu {
    int dimension = 1;
    double centre[most_dimensions] = {}, factor = 1.0; ///< of the frame
    double low[most_dimensions] = {}, side[most_dimensions] = {};
    std::int64_t count[most_dimensions] = {};

    LatticeOnGpu() = default;
    LatticeOnGpu(const GaussLattice& lattice, const GaussFrame& frame);
    [[nodiscard]] double boxes() const;
};

/// A row of a point in its box: coordinates from the lattice's lowest corner, in the frame, those of axes
/// that there are not 0; and the strength, last. Rows are read in 16-byte pieces.
FF_HD constexpr int boxed_columns(int dimension) { return (dimension > 3 ? dimension : 3) / 2 * 2 + 2; }

class SortedGaussPoints {
public:
    /// `points`: N×d on the GPU, in the caller's units.
    void set(const double* points, int count) {
        points_ = points;
        count_ = count;
    }
    /// By columns along the last axis.
    void sort_by_cells(const GridPlacing& placing, cudaStream_t stream);
    /// By columns of 8×8 cells along the last axis, upwards in each. @pre three dimensions
    void sort_by_columns(const GridPlacing& placing, cudaStream_t stream);
    /// By boxes, those of the first axis one after the other.
    void sort_by_boxes(const LatticeOnGpu& lattice, cudaStream_t stream);

    [[nodiscard]] int count() const { return count_; }
    [[nodiscard]] const std::uint64_t* keys() const { return keys_.data(); }
    [[nodiscard]] const std::int32_t* from() const { return from_.data(); } ///< the caller's rows

    /// In the order of the last sort.
    template <class Real>
    void place(const GridPlacing& placing, GridPoint<Real>* out, cudaStream_t stream) const;
    template <class Real>
    void place_in_columns(const GridPlacing& placing, GridPoint<Real>* out, cudaStream_t stream) const;
    /// `out`: N×boxed_columns; strengths stay as they are.
    void place(const LatticeOnGpu& lattice, double* out, cudaStream_t stream) const;

private:
    void make_room_for_keys();
    void sort(int bits, cudaStream_t stream);

    const double* points_ = nullptr;
    int count_ = 0;
    DeviceArray<std::uint64_t> keys_, unsorted_keys_;
    DeviceArray<std::int32_t> from_, unsorted_;
    Workspace workspace_;
};

/// Of sorted keys, how many are not the one before. Waits for it. @param found  one number
std::int64_t count_keys(const std::uint64_t* keys, int count, unsigned long long* found, cudaStream_t stream);

/// out[i] = strengths[from[i]]·2^exponent
template <class Real>
void order_strengths(const double* strengths, const std::int32_t* from, int count, int exponent, Real* out,
                     cudaStream_t stream);
/// The same into the rows of points in boxes.
void order_boxed_strengths(const double* strengths, const std::int32_t* from, int count, int exponent,
                           int dimension, double* out, cudaStream_t stream);

} // namespace farfield::cuda
