// The fast Gauss transform as a row of the table of methods.
#include "sums/method/method.h"

#include "backend/comm/communicator_access.h"
#include "backend/threads/parallel.h"
#include "base/spelling.h"
#include "sums/gauss/fgt_sum.h"
#include "sums/gauss/gpu_fgt.h"
#include "sums/gauss/gpu_shape.h"
#include "sums/gauss/grid/placing.h"
#include "sums/method/refuse.h"

#include <fmt/format.h>

#include <algorithm>

namespace farfield {
namespace {

bool computes(const KernelInfo& kernel) { return kernel.far_field == FarField::hermite; }

bool many_vectors(const KernelInfo& /*kernel*/) { return true; }

std::string why_not(const SumProblem& problem, const SumOptions& options, const DeviceChoice& device) {
    if (problem.is_periodic()) return why_no_period("fgt");
    if (!computes(*problem.kernel))
        return fmt::format("method 'fgt' sums Gaussians, not kernel '{}'; use {}", problem.kernel->name,
                           spelled("method", method_for(*problem.kernel)));
    if (device.kind == DeviceKind::cuda && device.gpus.size() > 1)
        return fmt::format("method 'fgt' runs on one GPU; use {}",
                           spelled("device", fmt::format("cuda:{}", device.gpus.front())));
    if (device.kind == DeviceKind::cuda && options.strategy == GaussStrategy::grid &&
        problem.dimension > most_grid_axes)
        return fmt::format("{} has up to {} dimensions on a GPU, not {}; use {} or {}",
                           spelled("strategy", name_of(options.strategy)), most_grid_axes, problem.dimension,
                           spelled("strategy", name_of(GaussStrategy::pairs)), spelled("device", "cpu"));
    if (device.kind == DeviceKind::cuda &&
        (options.strategy == GaussStrategy::clusters || options.strategy == GaussStrategy::boxes))
        return fmt::format("{} runs on a CPU; use {}", spelled("strategy", name_of(options.strategy)),
                           spelled("device", "cpu"));
    if (options.guaranteed) return why_no_bounds("fgt");
    if (options.variant != Variant::automatic)
        return fmt::format("{} is a rung of method 'direct'; leave it out or use {}",
                           spelled("variant", name_of(options.variant)), spelled("method", "direct"));
    if (problem.sources >= std::int64_t{1} << 31 || problem.targets >= std::int64_t{1} << 31)
        return "method 'fgt' takes fewer than 2147483648 points";
    return {};
}

double seconds(const SumProblem& problem, const SumOptions& options, std::string_view gpu,
               const CostTable& table) {
    if (!gpu.empty()) return gpu_fgt_seconds(problem, options, gpu, table);
    return problem.executions * least_fgt_seconds(problem, options, table) / thread_count(options.threads);
}

// The part of all points that a rank holds, where ranks give about as many each: those in its part of the
// order of boxes, those beside it, and as many on their way. Clusters and boxes, and others for a while, have
// all.
double held_part(const SumProblem& problem, const SumOptions& options) {
    const bool of_all = CommunicatorAccess::gives_everything(options.communicator) || problem.dimension > 3 ||
                        options.strategy == GaussStrategy::clusters ||
                        options.strategy == GaussStrategy::boxes;
    return of_all ? 1.0 : std::min(1.0, 3.0 / options.communicator.size());
}

// The caller's points and strengths, those of the loops, keys twice while they are sorted, sums and rows on
// their way out; the grid, and as much again for its parts, on a GPU twice as much; of clusters, points in
// units of σ and again in the clusters' order, with their distances; of boxes, expansions, points and keys
// again, and what is known of each box, which holds a point at least.
double bytes(const SumProblem& problem, const SumOptions& options, const DeviceChoice& device) {
    constexpr double number = 8.0;
    const bool on_gpu = device.kind == DeviceKind::cuda;
    const bool alone = options.communicator.size() == 1;
    const double held = alone ? 1.0 : held_part(problem, options);
    const auto n = held * static_cast<double>(problem.sources);
    const auto m = held * static_cast<double>(problem.targets);
    const double d = problem.dimension;
    const double vectors = problem.strength_vectors;
    const double grid = (on_gpu ? 3.0 : 2.0) * most_grid_numbers(problem) + 0x1p21;
    const double clusters = may_cluster(problem, options) && !on_gpu ? (2.0 * d + 5.0) * (n + m) : 0.0;
    const bool tries_boxes = may_box(options) && (alone || options.strategy == GaussStrategy::boxes);
    const double boxes = tries_boxes && !on_gpu ? most_box_numbers(problem) + (d + 14.0) * (n + m) : 0.0;
    return number * ((2.0 * d + 2.0 * vectors + 4.0) * n + (problem.self ? 0.0 : (2.0 * d + 4.0) * m) +
                     2.0 * (1.0 + d) * vectors * m + grid + clusters + boxes);
}

std::unique_ptr<PreparedSum> make(const SumProblem& problem, const SumOptions& options,
                                  const DeviceChoice& device) {
    if (device.kind == DeviceKind::cuda) return cuda::make_gpu_fgt(problem, options, device.gpus.front());
    return std::make_unique<FgtSum>(problem, options);
}

bool divides(const SumProblem& /*problem*/, const DeviceChoice& device) {
    return device.kind == DeviceKind::cpu;
}

bool takes_own_points(const SumProblem& /*problem*/, const SumOptions& /*options*/,
                      const DeviceChoice& device) {
    return device.kind == DeviceKind::cpu;
}

constexpr MethodInfo gauss_info{
    .value = Method::fgt,
    .name = "fgt",
    .text = "fast Gauss transform, to a tolerance: a grid, pairs up to a cut-off, or clusters",
    .on_gpu = true,
    .resident = false,
    .many_vectors = many_vectors,
    .computes = computes,
    .field_and_jerk = nullptr,
    .why_not = why_not,
    .seconds = seconds,
    .bytes = bytes,
    .make = make,
    .approximates = true,
    .divides = divides,
    .takes_own_points = takes_own_points};

} // namespace

const MethodInfo& fgt_method() { return gauss_info; }

} // namespace farfield
