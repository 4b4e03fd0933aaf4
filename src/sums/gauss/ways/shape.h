// What a way to compute the fast Gauss transform is told of its sum.
#pragma once

#include "sums/gauss/ways/box_aim.h"
#include "sums/gauss/ways/cluster_aim.h"

#include <farfield/sum_options.h>

namespace farfield {

struct GridRule;

struct GaussShape {
    GaussStrategy strategy = GaussStrategy::pairs;
    const GridRule* rule = nullptr; ///< of a grid
    double cutoff = 0.0;            ///< of pairs, in the frame
    double side = 0.0;              ///< of cells, in the frame
    ClusterAim clusters{};          ///< of clusters
    BoxAim boxes{};                 ///< of boxes
    /// On one thread, of evenly spread points: bringing them into order, and a sum; infinite where the
    /// strategy asked for is out of reach.
    double seconds = 0.0;
    double seconds_of_points = 0.0; ///< of these, for a grid: bringing points into order
};

} // namespace farfield
