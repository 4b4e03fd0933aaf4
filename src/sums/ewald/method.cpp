// Ewald's method as a row of the table of methods.
#include "sums/method/method.h"

#include "backend/threads/parallel.h"
#include "sums/costs/cost_file.h"
#include "sums/direct/cpu/host_sum.h"
#include "sums/ewald/ewald_sum.h"
#include "sums/ewald/waves.h"
#include "sums/lattice/lattice_on_cpu.h"

#include <memory>
#include <string>

namespace farfield {
namespace {

Cutoffs first_cutoffs(const SumProblem& problem, const CostTable& table) {
    return ewald_cutoffs(in_a_box(problem), first_lattice_goal(problem), table);
}

double seconds_alone(const SumProblem& problem, const SumOptions& /*options*/, const CostTable& table) {
    return ewald_seconds_alone(in_a_box(problem), first_cutoffs(problem, table), table);
}

class EwaldOnCpu : public LatticeOnCpu {
public:
    EwaldOnCpu(const SumProblem& problem, const SumOptions& options)
        : LatticeOnCpu("ewald", problem, options, seconds_alone(problem, options, cost_table_in_use().table),
                       [problem](double goal, Isa isa, int threads) -> std::unique_ptr<LatticeSum> {
                           const auto cutoffs = ewald_cutoffs(problem, goal, cost_table_in_use().table);
                           return std::make_unique<EwaldSum>(problem, cutoffs, isa, threads);
                       }) {}
};

bool computes(const KernelInfo& kernel) { return kernel.loop == PairLoop::inverse_distance; }

std::string why_not(const SumProblem& problem, const SumOptions& options, const DeviceChoice& device) {
    return why_no_lattice_sum("ewald", problem, options, device, false);
}

double seconds(const SumProblem& problem, const SumOptions& options, std::string_view /*gpu*/,
               const CostTable& table) {
    return problem.executions * seconds_alone(problem, options, table) / thread_count(options.threads);
}

// Points read, as given, wrapped and sorted; results; structure factors of 16 parts, and what waves have.
double bytes(const SumProblem& problem, const SumOptions& /*options*/, const DeviceChoice& /*device*/) {
    const auto cutoffs = first_cutoffs(problem, cost_table_in_use().table);
    const double waves = wave_count(PeriodicFrame(in_a_box(problem)), cutoffs.wave);
    const double targets = problem.self ? 0.0 : 16.0 * static_cast<double>(problem.targets);
    return 8.0 * (18.0 * static_cast<double>(problem.sources) + targets +
                  4.0 * static_cast<double>(problem.targets) + 40.0 * waves) +
           2e6;
}

std::unique_ptr<PreparedSum> make(const SumProblem& problem, const SumOptions& options,
                                  const DeviceChoice& /*device*/) {
    return std::make_unique<HostSum<EwaldOnCpu>>(problem, options);
}

constexpr MethodInfo row{.value = Method::ewald,
                         .name = "ewald",
                         .text =
                             "periodic boxes by Ewald's method: near images one by one, the rest by waves",
                         .on_gpu = false,
                         .resident = false,
                         .many_vectors = nullptr,
                         .computes = computes,
                         .field_and_jerk = nullptr,
                         .why_not = why_not,
                         .seconds = seconds,
                         .bytes = bytes,
                         .make = make,
                         .approximates = true,
                         .periodic = true};

} // namespace

const MethodInfo& ewald_method() { return row; }

} // namespace farfield
