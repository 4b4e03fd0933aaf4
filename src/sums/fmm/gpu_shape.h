// What a fast multipole sum looks like on a GPU: as shape.h has it, but for the grid of leaves, where near
// and far field have other rates.
#pragma once

#include "sums/fmm/shape.h"

#include <string_view>

namespace farfield {

/// Points of a leaf that take least time by those rates, for evenly spread points of 1/r.
double gpu_leaf(const FmmOrder& order, bool wide);
/// The same for a softened kernel. @param softening  ε in widths of a cube that holds one point, were they
/// spread evenly @param least  that it counts as, in widths of a leaf
double gpu_softened_leaf(const FmmOrder& order, bool wide, double softening, double least);
/// That of clusters, where most bodies are: the cube around one is wide, and its mean density tells little.
inline constexpr double least_softening_of_clusters = 0.2;

/// As fmm_shape. @param order  0: as the options or the tolerance ask @param softening  ε in sides of a cube
/// around the points; 0 where it is not known yet; of a periodic tree the problem has it
FmmShape gpu_fmm_shape(const SumProblem& problem, SumOptions options, const CostTable& table, int order = 0,
                       double softening = 0.0);

/// Seconds of all executions for evenly spread points on the GPU of that name, with its start and the way of
/// host arrays there and back; of points that move (SumProblem::moves) without. Rates are those of an H200,
/// scaled by the pairs a second that the table has for both. A pure function.
double gpu_fmm_seconds(const SumProblem& problem, const SumOptions& options, std::string_view gpu,
                       const CostTable& table);

} // namespace farfield
