// The fast multipole method as a row of the table of methods.
#include "sums/method/method.h"

#include "backend/comm/communicator_access.h"
#include "backend/threads/parallel.h"
#include "base/spelling.h"
#include "sums/costs/cost_file.h"
#include "sums/direct/cpu/host_sum.h"
#include "sums/fmm/cell_blocks.h"
#include "sums/fmm/costs.h"
#include "sums/fmm/fmm_sum.h"
#include "sums/fmm/gpu_fmm.h"
#include "sums/fmm/gpu_shape.h"
#include "sums/fmm/periodic_fmm.h"
#include "sums/fmm/periodic_level.h"
#include "sums/fmm/plane/plane_method.h"
#include "sums/fmm/softened.h"
#include "sums/method/refuse.h"
#include "sums/method/target_share.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace farfield {
namespace {

// Simulations settle their order without naming the kernel, which acts in space.
bool is_in_plane(const SumProblem& problem) {
    return problem.kernel != nullptr && problem.kernel->far_field == FarField::harmonic_2d;
}

bool computes(const KernelInfo& kernel) {
    return kernel.far_field == FarField::harmonic_3d || kernel.far_field == FarField::harmonic_2d;
}

std::string why_not_on_gpu(const SumOptions& options, const DeviceChoice& device) {
    const auto lacks = [](std::string_view what) {
        return fmt::format("fast multipole sums on a GPU have no {} yet; use {}", what,
                           spelled("device", "cpu"));
    };
    if (auto reason = why_not_so_many_gpus(options, device); !reason.empty()) return reason;
    if (options.guaranteed) return lacks("bounds");
    if (options.m2l == M2L::rotation) return lacks(fmt::format("translations '{}'", name_of(options.m2l)));
    return {};
}

std::string why_not_in_space(const SumProblem& problem, const SumOptions& options,
                             const DeviceChoice& device) {
    if (const int most = most_order(is_wide(problem.precision)); options.order > most)
        return fmt::format("{} is more than {}, the highest order of method 'fmm' in precision '{}'; use {}",
                           spelled("order", std::to_string(options.order)), most, name_of(problem.precision),
                           spelled("precision", "double"));
    if (device.kind == DeviceKind::cuda)
        if (auto reason = why_not_on_gpu(options, device); !reason.empty()) return reason;
    if (options.guaranteed && problem.softening > 0.0)
        return fmt::format("{}: softened kernels have no bounds yet; leave out {}, or the softening",
                           spelled("guaranteed"), spelled("guaranteed"));
    if (options.guaranteed && options.m2l == M2L::rotation)
        return fmt::format("{}: rounding by {} is not bounded; leave one of them out", spelled("guaranteed"),
                           spelled("m2l", name_of(options.m2l)));
    return {};
}

std::string why_not(const SumProblem& problem, const SumOptions& options, const DeviceChoice& device) {
    if (!computes(*problem.kernel))
        return fmt::format("method 'fmm' has no expansions for kernel '{}' yet; use {}", problem.kernel->name,
                           spelled("method", method_for(*problem.kernel)));
    if (problem.is_periodic())
        if (auto reason = why_no_image_sum("fmm", problem, options, device); !reason.empty()) return reason;
    if (options.variant != Variant::automatic)
        return fmt::format("{} is a rung of method 'direct'; leave it out or use {}",
                           spelled("variant", name_of(options.variant)), spelled("method", "direct"));
    if (problem.sources >= std::int64_t{1} << 31 || problem.targets >= std::int64_t{1} << 31)
        return "method 'fmm' takes fewer than 2147483648 points";
    return is_in_plane(problem) ? why_no_plane_fmm(problem, options, device)
                                : why_not_in_space(problem, options, device);
}

bool takes_own_points(const SumProblem& problem, const SumOptions& options, const DeviceChoice& device) {
    if (device.kind == DeviceKind::cuda) return true;
    return !problem.is_periodic() && !options.guaranteed && problem.sources > 0 && problem.targets > 0;
}

double open_bytes(const SumProblem& problem, const SumOptions& options, const DeviceChoice& device,
                  bool own) {
    const double held = held_part(options, own);
    if (is_in_plane(problem))
        return plane_fmm_bytes(problem, options, held) + bytes_for_other_ranks(problem, options, device);
    const auto shape = fmm_shape(problem, options, cost_table_in_use().table);
    const double number = shape.wide ? 8.0 : 4.0;
    const auto n = held * static_cast<double>(problem.sources);
    const auto m = problem.self ? 0.0 : held * static_cast<double>(problem.targets);
    const auto rows = static_cast<double>(std::max(problem.sources, problem.targets));
    // points: the caller's, in the frame, in the tree's order, in the loops' type; while they are sorted,
    // keys twice
    const double points = (n + m) * (8.0 * 12.0 + 24.0 + 24.0);
    const double results = held * static_cast<double>(problem.targets) * 8.0 *
                           (options.outputs.has(Output::hessian) ? 20.0 : 8.0);
    const double cells = 4.0 * rows / shape.leaf + 8.0;
    const HarmonicBasis basis(shape.order.order, static_cast<int>(64.0 / number));
    // that translate: of evenly spread points all but two, of others about as many more
    const int levels = static_cast<int>(std::ceil(std::log(rows / shape.leaf + 1.0) / std::log(8.0)));
    const auto softened =
        problem.softening > 0.0 ? predicted_softened_size(shape.order, shape.wide, levels) : SoftenedSize{};
    const double padding = 1.3;                          // of each class of functions to whole cache lines
    const double whole_tree = own ? 150.0 * cells : 0.0; // before it is a part
    const double part = own ? std::min(1.0, 3.0 / options.communicator.size()) : 1.0; // with cells around
    const double expansions =
        part * cells * (2.0 * number * (basis.size() + padding * softened.functions) + 600.0) + whole_tree;
    const double bounds =
        options.guaranteed ? cells * 550.0 + 48.0 * static_cast<double>(problem.targets) + 24.0 * n : 0.0;
    const bool blocks = device.kind == DeviceKind::cpu && in_blocks(shape.order, shape.wide);
    const auto of_blocks = static_cast<double>(
        blocks ? cell_block_numbers(shape.order.separation, basis.functions(), basis.size()) : 0);
    const double in_lanes = thread_count(options.threads) * number * of_blocks;
    const double dipoles = options.dipoles && device.kind == DeviceKind::cuda ? 90.0 * n : 0.0;
    const double order =
        problem.softening > 0.0 && device.kind == DeviceKind::cuda ? 8.0 * n : 0.0; // of leaves
    const double multipoles = // of which other ranks read their share, in two turns with room to grow
        device.kind == DeviceKind::cuda && options.communicator.size() > 1
            ? 2.5 * cells * number * (basis.size() + padding * softened.functions) /
                  options.communicator.size()
            : 0.0;
    const double apart = problem.self ? 14.0 * 32.0 * n : 0.0; // partial sums of mutual blocks
    return points + results + expansions + bounds + order + apart + dipoles + in_lanes + multipoles +
           bytes_for_other_ranks(problem, options, device) +
           predicted_operator_bytes(shape.order, shape.wide) + softened.bytes;
}

double bytes(const SumProblem& problem, const SumOptions& options, const DeviceChoice& device) {
    const bool own = gives_own_points(options, device, takes_own_points(problem, options, device));
    if (!problem.is_periodic()) return open_bytes(problem, options, device, own);
    // of boxes all ranks have all points; on CPUs each gives its part of them and their images to open sums
    const bool parts = device.kind == DeviceKind::cpu && options.communicator.size() > 1;
    auto whole = options;
    whole.communicator = CommunicatorAccess::with_everything(options.communicator);
    const auto open = [&](const SumProblem& one) { return open_bytes(one, whole, device, parts); };
    return periodic_fmm_bytes(problem, options, device, open) +
           bytes_for_other_ranks(problem, options, device);
}

bool divides(const SumProblem& /*problem*/, const DeviceChoice& /*device*/) { return true; }

std::unique_ptr<PreparedSum> make(const SumProblem& problem, const SumOptions& options,
                                  const DeviceChoice& device) {
    if (is_in_plane(problem)) return make_plane_fmm(problem, options, device);
    if (problem.is_periodic()) return make_periodic_fmm(problem, options, device);
    if (device.kind == DeviceKind::cuda) return cuda::make_gpu_fmm(problem, options, device.gpus);
    return std::make_unique<HostSum<FmmSum>>(problem, options);
}

double seconds(const SumProblem& problem, const SumOptions& options, std::string_view gpu,
               const CostTable& table) {
    if (problem.is_periodic()) return periodic_fmm_seconds(problem, options, gpu, table);
    return is_in_plane(problem) ? plane_fmm_seconds(problem, options, gpu, table)
                                : fmm_seconds(problem, options, gpu, table);
}

void settle(const SumProblem& problem, SumOptions& options, const CostTable& table) {
    if (is_in_plane(problem)) return settle_plane_fmm(problem, options, table);
    const bool on_gpu = options.device.kind == DeviceKind::cuda;
    const auto shape = on_gpu ? gpu_fmm_shape(problem, options, table) : fmm_shape(problem, options, table);
    if (options.order == 0) options.order = shape.order.order;
    // on a GPU each order has its own translations, and the best leaf of a softened sum follows the size of
    // the tree: no table has a say in them
    if (!on_gpu && options.m2l == M2L::automatic) options.m2l = shape.order.m2l;
    if (on_gpu && problem.softening > 0.0) return;
    if (options.leaf == 0) options.leaf = static_cast<int>(std::clamp(std::round(shape.leaf), 1.0, 1e6));
}

bool sharpen(const SumProblem& problem, SumOptions& options, double error) {
    if (is_in_plane(problem)) return sharpen_plane_fmm(problem, options, error);
    const bool wide = is_wide(options.precision);
    if (options.order >= most_order(wide)) return false;
    const int separation = options.separation > 0 ? options.separation : 1;
    options.order = order_after(options.order, separation, error, problem.tolerance, wide);
    return true;
}

constexpr MethodInfo fmm_info{
    .value = Method::fmm,
    .name = "fmm",
    .text = "fast multipole method: near pairs one by one, far ones by expansions, to a tolerance",
    .on_gpu = true,
    .resident = true,
    .many_vectors = nullptr,
    .computes = computes,
    .field_and_jerk = nullptr,
    .why_not = why_not,
    .seconds = seconds,
    .bytes = bytes,
    .make = make,
    .settle = settle,
    .sharpen = sharpen,
    .approximates = true,
    .whole_on_gpu = true,
    .open_axes = true,
    .fast_in_box = has_periodic_tree,
    .divides = divides,
    .takes_own_points = takes_own_points};

} // namespace

const MethodInfo& fmm_method() { return fmm_info; }

} // namespace farfield
