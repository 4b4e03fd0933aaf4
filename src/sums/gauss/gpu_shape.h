// How the fast Gauss transform computes a sum on a GPU, and how long that takes there. Pure functions.
#pragma once

#include "sums/gauss/shape.h"

#include <string_view>

namespace farfield {

struct GpuGaussShape {
    const GridRule* rule = nullptr; ///< null: pair by pair
    bool wide = true;               ///< in double
    bool sparse = false;            ///< a grid in space with so few points that its numbers collect from them
    double cutoff = 0.0;            ///< of pairs, in the frame
    double side = 0.0;              ///< of boxes, in the frame
    /// On an H200, of evenly spread points; infinite where the strategy asked for is out of reach.
    double seconds = 0.0;
};

/// As gauss_shape (shape.h), with the loops and rates of an H200. @pre at most three dimensions
GpuGaussShape gpu_gauss_shape(const SumProblem& problem, const SumOptions& options, const GaussExtent& extent,
                              const GaussFrame& frame, double tolerance, GaussStrategy wanted);

/// `MethodInfo::seconds` on the GPU of that name.
double gpu_fgt_seconds(const SumProblem& problem, const SumOptions& options, std::string_view gpu,
                       const CostTable& table);

} // namespace farfield
