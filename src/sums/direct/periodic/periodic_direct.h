// Every pair of a periodic box: with the points of the box and of its rim one by one, and with all images
// beyond through expansions.
#pragma once

#include "sums/direct/periodic/image_problem.h"

#include <memory>

namespace farfield {

/// What every pair of near points wants of far images.
ImageShape pairs_image_shape(const SumProblem& problem);

std::unique_ptr<PreparedSum> make_periodic_direct(const SumProblem& problem, const SumOptions& options);
double periodic_direct_seconds(const SumProblem& problem, const SumOptions& options, const CostTable& table);
/// @param bytes  of an open sum
double periodic_direct_bytes(const SumProblem& problem, const SumOptions& options,
                             const std::function<double(const SumProblem&)>& bytes);

} // namespace farfield
