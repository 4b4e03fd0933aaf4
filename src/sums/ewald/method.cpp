// Ewald's method as a row of the table of methods.
#include "sums/method/method.h"

#include "backend/comm/communicator_access.h"
#include "backend/threads/parallel.h"
#include "base/spelling.h"
#include "base/text.h"
#include "sums/costs/cost_file.h"
#include "sums/direct/cpu/host_sum.h"
#include "sums/ewald/ewald_sum.h"
#include "sums/ewald/gpu_ewald.h"
#include "sums/ewald/gpu_waves.h"
#include "sums/lattice/gpu_seconds.h"
#include "sums/lattice/lattice_goal.h"
#include "sums/lattice/lattice_on_cpu.h"
#include "sums/method/target_share.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numbers>
#include <string>

namespace farfield {
namespace {

Cutoffs first_cutoffs(const SumProblem& problem, const EwaldRates& rates) {
    return ewald_cutoffs(in_a_box(problem), first_lattice_goal(problem), rates);
}

double seconds_alone(const SumProblem& problem, const EwaldRates& rates) {
    return ewald_seconds(in_a_box(problem), first_cutoffs(problem, rates), rates);
}

class EwaldOnCpu : public LatticeOnCpu {
public:
    EwaldOnCpu(const SumProblem& problem, const SumOptions& options)
        : LatticeOnCpu("ewald", problem, options,
                       seconds_alone(problem, ewald_rates(cost_table_in_use().table)),
                       [problem, ranks = CommunicatorAccess::transport(options.communicator)](
                           double goal, Isa isa, int threads) -> std::unique_ptr<LatticeSum> {
                           // hosts may have cost tables of their own
                           const auto cutoffs = comm::from_rank(
                               ranks, ewald_cutoffs(problem, goal, ewald_rates(cost_table_in_use().table)));
                           return std::make_unique<EwaldSum>(problem, cutoffs, isa, threads, ranks);
                       }) {}
};

/// On a GPU: shared memory has room for three times as many of a point.
constexpr double most_waves_along_an_axis = 4000.0;

bool computes(const KernelInfo& kernel) { return kernel.loop == PairLoop::inverse_distance; }

std::string why_not(const SumProblem& problem, const SumOptions& options, const DeviceChoice& device) {
    if (auto reason = why_no_lattice_sum("ewald", problem, options, device); !reason.empty()) return reason;
    if (device.kind != DeviceKind::cuda) return {};
    const PeriodicFrame frame(problem);
    const auto cutoffs = first_cutoffs(problem, ewald_rates_on_gpu(cost_table_in_use().table, {}));
    const double longest = *std::max_element(frame.length.begin(), frame.length.end());
    if (cutoffs.wave * longest / (2.0 * std::numbers::pi) <= most_waves_along_an_axis) return {};
    return fmt::format("{}: this box is too long and thin for the waves of method 'ewald' on a GPU; use {}",
                       spelled("period", joined(problem.period, ",", "{:g}")), spelled("device", "cpu"));
}

double seconds(const SumProblem& problem, const SumOptions& options, std::string_view gpu,
               const CostTable& table) {
    if (gpu.empty())
        return problem.executions * seconds_alone(problem, ewald_rates(table)) /
               thread_count(options.threads);
    return lattice_seconds_on_gpu(problem, seconds_alone(problem, ewald_rates_on_gpu(table, gpu)), gpu,
                                  table);
}

// Points read, as given, wrapped and sorted; results; structure factors of 16 parts, and what waves have.
double bytes_on_cpu(const SumProblem& problem) {
    const auto cutoffs = first_cutoffs(problem, ewald_rates(cost_table_in_use().table));
    const double waves = wave_count(PeriodicFrame(in_a_box(problem)), cutoffs.wave);
    const double targets = problem.self ? 0.0 : 16.0 * static_cast<double>(problem.targets);
    return 8.0 * (18.0 * static_cast<double>(problem.sources) + targets +
                  4.0 * static_cast<double>(problem.targets) + 40.0 * waves) +
           2e6;
}

// Points as given, wrapped, and sorted with keys and rows; strengths; sums and results; cells, of eight
// points or more; waves. Ranks sort targets of their own, also where these are sources.
double bytes_on_gpu(const SumProblem& problem, int ranks) {
    const auto cutoffs = first_cutoffs(problem, ewald_rates_on_gpu(cost_table_in_use().table, {}));
    const double n = static_cast<double>(problem.sources), m = static_cast<double>(problem.targets);
    const double points = problem.self ? n : n + m;
    const double own = problem.self && ranks > 1 ? m / ranks : 0.0;
    return points * (24.0 + 2.0 * 32.0 + 24.0 + 24.0) + own * (32.0 + 24.0) + 8.0 * n + m * (32.0 + 32.0) +
           8.0 * n + gpu_wave_bytes(PeriodicFrame(in_a_box(problem)), cutoffs.wave, n, m) + 4e6;
}

double bytes(const SumProblem& problem, const SumOptions& options, const DeviceChoice& device) {
    if (device.kind == DeviceKind::cuda)
        return bytes_on_gpu(problem, options.communicator.size()) + near_fields_bytes_on_gpu(problem) +
               bytes_for_other_ranks(problem, options, device);
    return bytes_on_cpu(problem) + (options.communicator.size() == 1 ? 0.0 : bytes_of_rank(problem));
}

bool divides(const SumProblem& /*problem*/, const DeviceChoice& /*device*/) { return true; }

bool takes_own_points(const SumProblem& /*problem*/, const SumOptions& /*options*/,
                      const DeviceChoice& device) {
    return device.kind == DeviceKind::cuda;
}

std::unique_ptr<PreparedSum> make(const SumProblem& problem, const SumOptions& options,
                                  const DeviceChoice& device) {
    if (device.kind == DeviceKind::cuda) return cuda::make_gpu_ewald(problem, options, device.gpus.front());
    return std::make_unique<HostSum<EwaldOnCpu>>(problem, options);
}

constexpr MethodInfo ewald_info{
    .value = Method::ewald,
    .name = "ewald",
    .text = "periodic boxes by Ewald's method: near images one by one, the rest by waves",
    .on_gpu = true,
    .resident = true,
    .many_vectors = nullptr,
    .computes = computes,
    .field_and_jerk = nullptr,
    .why_not = why_not,
    .seconds = seconds,
    .bytes = bytes,
    .make = make,
    .approximates = true,
    .periodic = true,
    .divides = divides,
    .takes_own_points = takes_own_points};

} // namespace

const MethodInfo& ewald_method() { return ewald_info; }

} // namespace farfield
