// The images of points in the rim of a periodic box, on a GPU: in the order of rim_images (far_images.h).
#pragma once

#include "backend/cuda/memory.h"
#include "backend/cuda/workspace.h"
#include "sums/lattice/images/cell_formulas.h"

#include <cstdint>

namespace farfield::cuda {

class DeviceRim {
public:
    /// Of N×3 points in the box. Waits for their number. @throws InvalidArgument for more than a sum takes.
    void select(const GridView& grid, const double* points, std::int64_t n, cudaStream_t stream);
    /// Of N strengths, those of the images.
    void take_strengths(const double* strengths, cudaStream_t stream);

    [[nodiscard]] std::int64_t count() const { return count_; }
    [[nodiscard]] const double* points() const { return points_.data(); } ///< count×3
    [[nodiscard]] const double* strengths() const { return strengths_.data(); }

private:
    std::int64_t count_ = 0;
    DeviceArray<std::int64_t> counts_, first_; ///< of the images of each point
    DeviceArray<double> points_, strengths_;
    DeviceArray<std::int32_t> of_; ///< the points that they are of
    Workspace workspace_;
};

} // namespace farfield::cuda
