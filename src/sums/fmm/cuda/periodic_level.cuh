// Level 0 of a periodic tree on a GPU (periodic_level.cpp has it on the host).
#pragma once

#include "sums/fmm/cuda/points.cuh"
#include "sums/lattice/images/cuda/device_image_operator.cuh"

#include <memory>

namespace farfield::cuda {

class PeriodicLevel {
public:
    /// Keeps what it has of the same operator.
    void prepare(const std::shared_ptr<const ImageOperator>& images, cudaStream_t stream) {
        operator_.set(images, stream);
    }
    /// Adds to the local expansions of level 0 what all its cells and their images that are no neighbours
    /// send.
    /// @param functions  of points within a cell @param stride  of expansions
    template <class Real>
    void add(const TreeView& tree, const FunctionsView<Real>& functions, const Real* multipoles, int stride,
             Real* locals, cudaStream_t stream);

private:
    DeviceImageOperator operator_;
};

} // namespace farfield::cuda
