// Smooth particle-mesh Ewald as a row of the table of methods.
#include "sums/method/method.h"

#include "backend/comm/communicator_access.h"
#include "backend/threads/parallel.h"
#include "base/spelling.h"
#include "sums/costs/cost_file.h"
#include "sums/direct/cpu/host_sum.h"
#include "sums/lattice/gpu_seconds.h"
#include "sums/lattice/lattice_on_cpu.h"
#include "sums/method/target_share.h"
#include "sums/pme/gpu_pme.h"
#include "sums/pme/mesh_choice.h"
#include "sums/pme/mesh_part.h"

#include <fmt/format.h>

#include <memory>
#include <string>

namespace farfield {
namespace {

MeshChoice first_mesh(const SumProblem& problem, const SumOptions& options, const MeshRates& rates) {
    return best_mesh(in_a_box(problem), options.order, first_lattice_goal(problem), rates);
}

MeshRates rates_in_use(const DeviceChoice& device) {
    const auto& table = cost_table_in_use().table;
    return device.kind == DeviceKind::cuda ? mesh_rates_on_gpu(table, {}) : mesh_rates(table);
}

class PmeOnCpu : public LatticeOnCpu {
public:
    PmeOnCpu(const SumProblem& problem, const SumOptions& options)
        : LatticeOnCpu(
              "pme", problem, options,
              first_mesh(problem, options, mesh_rates(cost_table_in_use().table)).seconds,
              [problem, order = options.order, ranks = CommunicatorAccess::transport(options.communicator)](
                  double goal, Isa isa, int threads) -> std::unique_ptr<LatticeSum> {
                  // hosts may have cost tables of their own
                  const auto choice = comm::from_rank(
                      ranks, best_mesh(problem, order, goal, mesh_rates(cost_table_in_use().table)));
                  if (choice.order == 0) return nullptr;
                  return std::make_unique<LatticeSum>(
                      problem, choice.splitting, choice.near,
                      std::make_unique<MeshPart>(PeriodicFrame(problem), choice, isa, threads, ranks), isa,
                      threads, ranks);
              }) {}
};

bool computes(const KernelInfo& kernel) { return kernel.loop == PairLoop::inverse_distance; }

std::string why_not(const SumProblem& problem, const SumOptions& options, const DeviceChoice& device) {
    if (options.order != 0 && (options.order < least_spline_order || options.order > most_spline_order))
        return fmt::format("method 'pme' has splines of order {} to {}, not {}", least_spline_order,
                           most_spline_order, options.order);
    if (auto reason = why_no_lattice_sum("pme", problem, options, device); !reason.empty()) return reason;
    if (first_mesh(problem, options, rates_in_use(device)).order == 0)
        return fmt::format(
            "method 'pme' has no mesh that is fine enough for {} and {}; use a higher order, or {}",
            spelled("tolerance", fmt::format("{:g}", problem.tolerance)),
            spelled("order", fmt::to_string(options.order)), spelled("method", "ewald"));
    return {};
}

double seconds(const SumProblem& problem, const SumOptions& options, std::string_view gpu,
               const CostTable& table) {
    if (gpu.empty())
        return problem.executions * first_mesh(problem, options, mesh_rates(table)).seconds /
               thread_count(options.threads);
    return lattice_seconds_on_gpu(
        problem, first_mesh(problem, options, mesh_rates_on_gpu(table, gpu)).seconds, gpu, table);
}

// Points read, as given, wrapped, and sorted twice; results; the mesh, half its spectrum and an eighth of it.
double bytes_on_cpu(const SumProblem& problem, const MeshChoice& choice) {
    const double targets = problem.self ? 0.0 : 28.0 * static_cast<double>(problem.targets);
    return 8.0 * (30.0 * static_cast<double>(problem.sources) + targets +
                  4.0 * static_cast<double>(problem.targets) + 2.5 * choice.points()) +
           4e6;
}

// Points as given, wrapped, sorted twice, with keys and rows for both; where they are read; sums and results;
// cells, of eight points or more, and bins; the mesh, its spectrum, an eighth of it, and what the transform
// takes. Ranks sort targets of their own, also where these are sources.
double bytes_on_gpu(const SumProblem& problem, const MeshChoice& choice, int ranks) {
    const double n = static_cast<double>(problem.sources), m = static_cast<double>(problem.targets);
    const double points = problem.self ? n : n + m;
    const double own = problem.self && ranks > 1 ? m / ranks : 0.0;
    return points * (24.0 + 3.0 * 32.0 + 2.0 * 24.0 + 24.0) + own * 2.0 * (32.0 + 24.0) + 8.0 * n +
           m * (32.0 + 32.0) + 8.0 * n + choice.points() * (8.0 + 9.0 + 1.5 + 18.0) + 3e7;
}

double bytes(const SumProblem& problem, const SumOptions& options, const DeviceChoice& device) {
    const auto choice = first_mesh(problem, options, rates_in_use(device));
    if (device.kind == DeviceKind::cuda)
        return bytes_on_gpu(problem, choice, options.communicator.size()) +
               near_fields_bytes_on_gpu(problem) + bytes_for_other_ranks(problem, options, device);
    // a rank's own targets are sorted beside the sources, of which it takes a copy
    const bool alone = options.communicator.size() == 1;
    return bytes_on_cpu(problem, choice) +
           (alone ? 0.0 : bytes_of_rank(problem) + 40.0 * static_cast<double>(problem.sources));
}

bool divides(const SumProblem& /*problem*/, const DeviceChoice& /*device*/) { return true; }

bool takes_own_points(const SumProblem& /*problem*/, const SumOptions& /*options*/,
                      const DeviceChoice& device) {
    return device.kind == DeviceKind::cuda;
}

std::unique_ptr<PreparedSum> make(const SumProblem& problem, const SumOptions& options,
                                  const DeviceChoice& device) {
    if (device.kind == DeviceKind::cuda) return cuda::make_gpu_pme(problem, options, device.gpus.front());
    return std::make_unique<HostSum<PmeOnCpu>>(problem, options);
}

constexpr MethodInfo pme_info{.value = Method::pme,
                              .name = "pme",
                              .text =
                                  "periodic boxes by particle-mesh Ewald: near images one by one, the rest "
                                  "on a mesh",
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

const MethodInfo& pme_method() { return pme_info; }

} // namespace farfield
