// The fast multipole sum of a plan on GPUs, for callers that have no CUDA header: arrays of the host or of
// the GPU, in and out, any strides. Tree, lists and all passes are made there.
#pragma once

#include "sums/direct/periodic/image_problem.h"
#include "sums/method/method.h"

#include <memory>
#include <vector>

namespace farfield::cuda {

/// @param devices  in CUDA's numbers, at least one: the caller's arrays are on the host or on the first; each
/// computes a share of the targets
/// @throws BackendUnavailable without CUDA or such GPUs.
std::unique_ptr<PreparedSum> make_gpu_fmm(const SumProblem& problem, const SumOptions& options,
                                          const std::vector<int>& devices);

/// The periodic tree of a cube, in which the points lie, on one GPU, or one of each rank: the sum over
/// growing spheres of images in empty space, beyond neighbours by harmonics alone. `execute` throws
/// PointsMeet where results are not finite.
/// @pre has_periodic_tree(problem); `options` has no period
std::unique_ptr<PreparedSum> make_gpu_box_fmm(const SumProblem& problem, const SumOptions& options,
                                              int device, const TreeBox& box);

} // namespace farfield::cuda
