// A build without CUDA: what needs a GPU says so.
#include "backend/cuda/devices.h"
#include "studies/fmm_strategies/memory_kinds.h"
#include "studies/fmm_strategies/sparse_runs.h"
#include "studies/fmm_strategies/strategies.h"

#include <farfield/error.h>

namespace farfield::strategies {

struct StrategyRuns::Impl {};

StrategyRuns::StrategyRuns(const Problem& /*problem*/, bool /*is_double*/) {
    throw BackendUnavailable(cuda::why_no_device());
}
StrategyRuns::StrategyRuns(StrategyRuns&&) noexcept = default;
StrategyRuns& StrategyRuns::operator=(StrategyRuns&&) noexcept = default;
StrategyRuns::~StrategyRuns() = default;
double StrategyRuns::run(Strategy /*strategy*/) { throw BackendUnavailable(cuda::why_no_device()); }
double StrategyRuns::run_indices() { throw BackendUnavailable(cuda::why_no_device()); }
std::vector<Moment> StrategyRuns::fetch() const { throw BackendUnavailable(cuda::why_no_device()); }

std::vector<MemoryTime> measure_memory_kinds(const Problem& /*problem*/, int /*repeats*/) {
    throw BackendUnavailable(cuda::why_no_device());
}

SparseResult run_sparse(const SparseProblem& /*problem*/, int /*repeats*/) {
    throw BackendUnavailable(cuda::why_no_device());
}

} // namespace farfield::strategies
