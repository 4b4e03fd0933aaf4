// The way of each strategy.
#pragma once

#include "sums/gauss/ways/way.h"
#include "sums/method/problem.h"

#include <memory>

namespace farfield {

/// @pre `strategy` is not `automatic`; ISA is resolved. `problem` has to outlive it.
/// @param ranks  not null: each sums over its rows (ranks/rank_rows.h)
std::unique_ptr<GaussWay> make_gauss_way(GaussStrategy strategy, const SumProblem& problem, Isa isa,
                                         int threads, comm::Transport* ranks);

} // namespace farfield
