// The fast multipole method in periodic boxes: the tree of the box, another one of the images in its rim, and
// expansions for all images beyond (sums/lattice/images).
#pragma once

#include "sums/direct/periodic/image_problem.h"

#include <memory>

namespace farfield {

std::unique_ptr<PreparedSum> make_periodic_fmm(const SumProblem& problem, const SumOptions& options,
                                               const DeviceChoice& device);
double periodic_fmm_seconds(const SumProblem& problem, const SumOptions& options, std::string_view gpu,
                            const CostTable& table);
/// @param bytes  of an open sum
double periodic_fmm_bytes(const SumProblem& problem, const SumOptions& options, const DeviceChoice& device,
                          const std::function<double(const SumProblem&)>& bytes);

} // namespace farfield
