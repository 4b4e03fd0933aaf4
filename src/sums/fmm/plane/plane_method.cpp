#include "sums/fmm/plane/plane_method.h"

#include "base/spelling.h"
#include "sums/costs/cost_file.h"
#include "sums/fmm/plane/gpu_plane_fmm.h"
#include "sums/fmm/plane/gpu_plane_shape.h"
#include "sums/fmm/plane/plane_fmm.h"
#include "sums/fmm/plane/plane_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace farfield {

std::string why_no_plane_fmm(const SumProblem& /*problem*/, const SumOptions& options,
                             const DeviceChoice& device) {
    if (device.gpus.size() > 1)
        return fmt::format("method 'fmm' takes one GPU as yet; use {}",
                           spelled("device", fmt::format("cuda:{}", device.gpus.front())));
    if (options.guaranteed)
        return fmt::format("sums in the plane have no bounds of their errors; leave {} out",
                           spelled("guaranteed"));
    if (options.m2l != M2L::automatic && options.m2l != M2L::matrix)
        return fmt::format("{} is a way of sums in space; leave it out",
                           spelled("m2l", name_of(options.m2l)));
    if (options.order > most_plane_order)
        return fmt::format(
            "{} is more than {}, the highest order of method 'fmm' in the plane; use a lower one",
            spelled("order", std::to_string(options.order)), most_plane_order);
    return {};
}

double plane_fmm_bytes(const SumProblem& problem, const SumOptions& options, double held) {
    const auto shape = plane_shape(problem, options, cost_table_in_use().table);
    const auto n = held * static_cast<double>(problem.sources);
    const auto m = problem.self ? 0.0 : held * static_cast<double>(problem.targets);
    const auto rows = static_cast<double>(std::max(problem.sources, problem.targets));
    // points: the caller's, in the frame, in the tree's order, in the loops' type; while they are sorted,
    // keys twice. Strengths: the caller's, in the tree's order, in the loops' type.
    const double points = (n + m) * 8.0 * 18.0 + n * 8.0 * 6.0;
    const double results = held * static_cast<double>(problem.targets) * 8.0 * 8.0;
    const double cells = 3.0 * rows / shape.leaf + 8.0;
    const double expansions = cells * (2.0 * 4.0 * 8.0 * laurent_size(shape.order.order) + 400.0);
    const double apart = problem.self ? 40.0 * n : 0.0; // partial sums of mutual blocks
    return points + results + expansions + apart;
}

std::unique_ptr<PreparedSum> make_plane_fmm(const SumProblem& problem, const SumOptions& options,
                                            const DeviceChoice& device) {
    if (device.kind == DeviceKind::cuda)
        return cuda::make_gpu_plane_fmm(problem, options, device.gpus.front());
    return std::make_unique<PlaneFmm>(problem, options);
}

double plane_fmm_seconds(const SumProblem& problem, const SumOptions& options, std::string_view gpu,
                         const CostTable& table) {
    return gpu.empty() ? plane_seconds(problem, options, table)
                       : gpu_plane_seconds(problem, options, gpu, table);
}

void settle_plane_fmm(const SumProblem& problem, SumOptions& options, const CostTable& table) {
    const bool on_gpu = options.device.kind == DeviceKind::cuda;
    const auto shape =
        on_gpu ? gpu_plane_shape(problem, options, table) : plane_shape(problem, options, table);
    if (options.order == 0) options.order = shape.order.order;
    if (options.leaf == 0) options.leaf = static_cast<int>(std::clamp(std::round(shape.leaf), 1.0, 1e6));
}

bool sharpen_plane_fmm(const SumProblem& problem, SumOptions& options, double error) {
    if (options.order >= most_plane_order) return false;
    const int separation = options.separation > 0 ? options.separation : 1;
    options.order = plane_order_after(options.order, separation, error, problem.tolerance);
    return true;
}

} // namespace farfield
