// Ranks with a GPU each, and rows of their own: all rows come together in the memory of each GPU.
#pragma once

#include "sums/method/method.h"

#include <memory>

namespace farfield::cuda {

/// Takes this rank's points and strengths, on the host or a GPU, and gives its results. `sum` has all rows:
/// of the same problem, with a communicator whose ranks give everything. Ranks of one host read each other's
/// GPUs where they can (rank_rows.cuh). Works in the order of `options.stream`, or of the default stream.
/// @throws BackendUnavailable without CUDA, and as RankRows does
std::unique_ptr<PreparedSum> make_own_rows(std::unique_ptr<PreparedSum> sum, const SumProblem& problem,
                                           const SumOptions& options, int device);

} // namespace farfield::cuda
