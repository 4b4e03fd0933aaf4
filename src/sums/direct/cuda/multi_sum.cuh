// A plan's sum on several GPUs behind the interface of the rungs: the first GPU has the points and takes the
// sums.
#pragma once

#include "sums/direct/cuda/engine.cuh"
#include "sums/direct/cuda/rung_sum.cuh"

namespace farfield::cuda {

/// `options`: devices, design, exchange and rung; the rest comes with each call. Targets are the sources.
/// @throws what SumEngine throws; from `pack` InvalidArgument for separate targets.
std::unique_ptr<RungSum> make_multi_sum(const EngineOptions& options, Precision precision);

} // namespace farfield::cuda
