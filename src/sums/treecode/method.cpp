// The tree code as a row of the table of methods.
#include "sums/method/method.h"

#include "base/spelling.h"
#include "sums/direct/cpu/host_sum.h"
#include "sums/expansions/cartesian.h"
#include "sums/method/refuse.h"
#include "sums/method/target_share.h"
#include "sums/treecode/costs.h"
#include "sums/treecode/gpu_treecode.h"
#include "sums/treecode/shape.h"
#include "sums/treecode/tree_sum.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace farfield {
namespace {

bool computes(const KernelInfo& kernel) { return kernel.far_field == FarField::harmonic_3d; }

std::string why_not(const SumProblem& problem, const SumOptions& options, const DeviceChoice& device) {
    if (!computes(*problem.kernel))
        return fmt::format("method 'treecode' has no expansions for kernel '{}'; use {}",
                           problem.kernel->name, spelled("method", method_for(*problem.kernel)));
    if (device.kind == DeviceKind::cuda && device.gpus.size() > 1)
        return fmt::format("method 'treecode' takes one GPU as yet; use {}",
                           spelled("device", fmt::format("cuda:{}", device.gpus.front())));
    if (problem.is_periodic()) return why_no_period("treecode");
    if (options.variant != Variant::automatic)
        return fmt::format("{} is a rung of method 'direct'; leave it out or use {}",
                           spelled("variant", name_of(options.variant)), spelled("method", "direct"));
    if (options.guaranteed) return why_no_bounds("treecode");
    if (options.dipoles) return why_no_tree_sum(true);
    if (options.outputs.has(Output::hessian)) return why_no_tree_sum(false);
    if (options.order > most_cartesian_order)
        return fmt::format(
            "{} is more than {}, the highest order of method 'treecode'; use a lower one, or {}",
            spelled("order", std::to_string(options.order)), most_cartesian_order, spelled("method", "fmm"));
    if (problem.sources >= std::int64_t{1} << 31 || problem.targets >= std::int64_t{1} << 31)
        return "method 'treecode' takes fewer than 2147483648 points";
    return {};
}

bool takes_own_points(const SumProblem& problem, const SumOptions& /*options*/, const DeviceChoice& device) {
    return device.kind == DeviceKind::cuda || (problem.sources > 0 && problem.targets > 0);
}

double bytes(const SumProblem& problem, const SumOptions& options, const DeviceChoice& device) {
    const auto shape = treecode_shape(problem, options);
    const bool own = gives_own_points(options, device, takes_own_points(problem, options, device));
    const double held = held_part(options, own);
    const double n = held * static_cast<double>(problem.sources);
    const double m = problem.self ? 0.0 : held * static_cast<double>(problem.targets);
    const auto rows = static_cast<double>(std::max(problem.sources, problem.targets));
    // points: the caller's, in the frame, in the tree's order, in the loops' type; while they are sorted,
    // keys twice
    const double points = (n + m) * (8.0 * 12.0 + 24.0 + 24.0) + 24.0 * n;
    const double results = held * static_cast<double>(problem.targets) * 8.0 * 8.0;
    const double cells = 6.0 * rows / shape.leaf + 64.0;
    const double lists = own ? 100.0 * held * static_cast<double>(problem.targets) : 0.0; // of groups
    const double of_cell = 8.0 * monomials_below(shape.order + 1) +
                           (shape.wide ? 8.0 : 4.0) * far_numbers(shape.order) + sizeof(SourceCell) +
                           2.0 * sizeof(TreeCell) + sizeof(TargetNode);
    return points + results + lists + cells * of_cell + bytes_for_other_ranks(problem, options, device);
}

bool divides(const SumProblem& /*problem*/, const DeviceChoice& /*device*/) { return true; }

std::unique_ptr<PreparedSum> make(const SumProblem& problem, const SumOptions& options,
                                  const DeviceChoice& device) {
    if (device.kind == DeviceKind::cuda)
        return cuda::make_gpu_treecode(problem, options, device.gpus.front());
    return std::make_unique<HostSum<TreecodeSum>>(problem, options);
}

void settle(const SumProblem& problem, SumOptions& options, const CostTable& /*table*/) {
    const auto shape = treecode_shape(problem, options);
    if (options.order == 0) options.order = shape.order;
    if (options.leaf == 0) options.leaf = shape.leaf;
}

bool sharpen(const SumProblem& problem, SumOptions& options, double error) {
    if (options.order >= most_cartesian_order) return false;
    options.order = treecode_order_after(options.order, error, problem.tolerance);
    return true;
}

constexpr MethodInfo treecode_info{
    .value = Method::treecode,
    .name = "treecode",
    .text = "Barnes–Hut tree code: near pairs one by one, far cells by their multipole expansions",
    .on_gpu = true,
    .resident = true,
    .many_vectors = nullptr,
    .computes = computes,
    .field_and_jerk = nullptr,
    .why_not = why_not,
    .seconds = treecode_seconds,
    .bytes = bytes,
    .make = make,
    .settle = settle,
    .sharpen = sharpen,
    .approximates = true,
    .divides = divides,
    .takes_own_points = takes_own_points};

} // namespace

const MethodInfo& treecode_method() { return treecode_info; }

} // namespace farfield
