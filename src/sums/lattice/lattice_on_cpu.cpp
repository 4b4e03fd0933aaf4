#include "sums/lattice/lattice_on_cpu.h"

#include "backend/comm/communicator_access.h"
#include "backend/simd/isa.h"
#include "base/stopwatch.h"
#include "sums/costs/cost_file.h"
#include "sums/costs/threads.h"
#include "sums/lattice/near_fields.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <utility>

namespace farfield {

LatticeOnCpu::LatticeOnCpu(std::string_view method, const SumProblem& problem, const SumOptions& options,
                           double seconds, Make make)
    : method_(method), problem_(problem), communicator_(options.communicator), make_(std::move(make)),
      isa_(resolve_isa(options.isa)),
      threads_(threads_for(options.threads, seconds / communicator_.size(), cost_table_in_use().table)),
      goal_(problem) {}

// The same on all ranks, which choose by it, whatever their hosts compute with.
double LatticeOnCpu::near_field() const {
    return near_field_strength(problem_, sources_, targets_, threads_,
                               CommunicatorAccess::transport(communicator_));
}

void LatticeOnCpu::set_points(RawVector<double> sources, RawVector<double> targets) {
    sources_ = std::move(sources);
    targets_ = std::move(targets);
    const bool other = goal_.depends_on_points() && goal_.set_near_field(near_field());
    if (!sum_ || other) sum_ = make_(goal_.value(), isa_, threads_);
    sum_->set_points(sources_, targets_, {});
}

void LatticeOnCpu::compute(std::span<const double> strengths, std::span<const double> dipoles,
                           const DirectResults& results, SumReport& report, const SumHooks& hooks) {
    if (!dipoles.empty())
        throw InvalidArgument(fmt::format("method '{}' has no dipoles; leave them out", method_));
    if (results.hessian != nullptr)
        throw InvalidArgument(fmt::format("method '{}' has no output 'hessian'; leave it out", method_));
    Stopwatch watch;
    sum_->compute(strengths, {results.potential, results.field}, hooks, report);
    report.compute_seconds = watch.lap();
    report.threads = threads_;
    report.device = {.kind = DeviceKind::cpu};
    report.isa = isa_;
    report.precision = Precision::float64;
}

bool LatticeOnCpu::refine(double error) {
    if (!goal_.sharpen(comm::from_rank(CommunicatorAccess::transport(communicator_), error))) return false;
    auto finer = make_(goal_.value(), isa_, threads_);
    if (!finer) return false;
    sum_ = std::move(finer);
    sum_->set_points(sources_, targets_, {});
    return true;
}

} // namespace farfield
