// Ranks that share the targets of a sum, each with the sum of a method that knows nothing of ranks: all
// sources act on a part of the targets. For GPUs, where each rank has one, and for targets that are no
// sources, or sources that act on themselves.
#pragma once

#include "backend/comm/transport.h"
#include "sums/method/method.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace farfield {

bool shares_targets(const MethodInfo& method, const SumProblem& problem, const DeviceChoice& device);

/// Of a method that shares targets by itself: memory of its GPU in which the other ranks read its sums
/// (direct/cuda/several/rank_rows.cuh), and, where each has points of its own, for all rows
/// (own_rows.h), if ranks give about as many each. 0 for one process and on CPUs.
double bytes_for_other_ranks(const SumProblem& problem, const SumOptions& options,
                             const DeviceChoice& device);

/// Ranks on CPUs give points of their own, which the method takes.
/// @param takes_own  MethodInfo::takes_own_points
bool gives_own_points(const SumOptions& options, const DeviceChoice& device, bool takes_own);
/// The part of all points that a rank then holds, those of leaves beside its own among them, where ranks give
/// about as many each.
double held_part(const SumOptions& options, bool own);

/// Rank r has written rows [begins[r], begins[r + 1]) of its array on the host: all get all rows.
void gather_targets(comm::Transport& ranks, const ArrayView& view, const std::vector<std::int64_t>& begins);

/// Ranks give all points and strengths, and get all results, in the memory of the host.
/// @throws what the method throws, on all ranks
std::unique_ptr<PreparedSum> make_target_share(const MethodInfo& method, const SumProblem& problem,
                                               const SumOptions& options, const DeviceChoice& device);

} // namespace farfield
