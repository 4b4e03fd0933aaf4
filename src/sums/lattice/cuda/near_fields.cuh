// near_fields.h for points on a GPU.
#pragma once

#include "backend/cuda/memory.h"
#include "sums/lattice/cuda/box_points.cuh"
#include "sums/lattice/cuda/sorted_cells.cuh"

#include <cuda_runtime_api.h>

namespace farfield::cuda {

class NearFields {
public:
    /// near_field_strength. Waits for it. @param self  targets are the sources
    double strength(const PeriodicFrame& frame, const BoxPoints& sources, const BoxPoints& targets, bool self,
                    cudaStream_t stream);

private:
    // kept for the next points
    SortedCells cells_;
    DeviceArray<Vec4<double>> at_;            ///< sources in the order of cells
    DeviceArray<double> of_targets_, blocks_; ///< squares of fields, and sums of some targets each
};

} // namespace farfield::cuda
