// Near images on a GPU, see near_sum.h: a warp for each target. Each lane finds the sources of one row of
// cells; all lanes look at these sources side by side, and those within the cut-off queue up until there is
// one for every lane.
#pragma once

#include "backend/cuda/memory.h"
#include "sums/lattice/cuda/box_points.cuh"
#include "sums/lattice/cuda/cells.cuh"
#include "sums/lattice/splitting.h"

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <functional>

namespace farfield::cuda {

class NearImages {
public:
    NearImages(const PeriodicFrame& frame, const Splitting& splitting, double cutoff);

    void set_points(const BoxPoints& sources, const BoxTargets& targets, cudaStream_t stream);

    /// *Writes* the sums of the targets by their rows: the field, and the potential as w, with what waves let
    /// a point do to itself and to others at its place already taken away. Asks `stop` between launches.
    void compute(const double* strengths, Vec4<double>* sums, const std::function<void()>& stop,
                 cudaStream_t stream);

    struct Counts {
        std::int64_t pairs = 0;              ///< targets times the images that were looked at
        std::int64_t coincident = 0;         ///< pairs at one place, of which none was counted
        std::int64_t target = 0, source = 0; ///< the first of these
    };
    /// Of the last `compute`; waits for it.
    [[nodiscard]] Counts counts(cudaStream_t stream);

private:
    struct Points {
        SortedCells cells;
        DeviceArray<Vec4<double>> at; ///< in the order of cells; w is the strength
    };

    PeriodicFrame frame_;
    Splitting splitting_;
    double cutoff_;
    CellsOnGpu cells_;
    Points sources_, targets_;
    int source_count_ = 0;
    BoxTargets wanted_;
    DeviceArray<unsigned long long> counters_;
};

} // namespace farfield::cuda
