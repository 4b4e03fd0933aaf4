#include "sums/fmm/periodic_fmm.h"

#include "backend/comm/agree.h"
#include "backend/comm/communicator_access.h"
#include "backend/threads/parallel.h"
#include "sums/costs/cost_file.h"
#include "sums/direct/cpu/host_sum.h"
#include "sums/direct/cuda/periodic/gpu_image_sum.h"
#include "sums/fmm/box_fmm.h"
#include "sums/fmm/costs.h"
#include "sums/fmm/gpu_fmm.h"
#include "sums/fmm/gpu_shape.h"
#include "sums/fmm/open_fmm.h"
#include "sums/fmm/periodic_level.h"

#include <cmath>
#include <string>

namespace farfield {
namespace {

OpenSeconds seconds_on_gpu(const SumOptions& options, std::string_view gpu, const CostTable& table) {
    return [options, name = std::string(gpu), &table](SumProblem open) {
        open.moves = true; // neither the start of the GPU nor the way of arrays there
        return gpu_fmm_seconds(open, options, name, table);
    };
}

std::unique_ptr<PreparedSum> make_open_on_gpu(const SumProblem& problem, const SumOptions& options,
                                              int device) {
    return cuda::make_gpu_fmm(problem, options, {device});
}

// Hosts may have cost tables of their own.
template <class T>
T of_rank_0(const SumOptions& options, T value) {
    return comm::from_rank(CommunicatorAccess::transport(options.communicator), value);
}

// Leaves stay while the order rises: the cube begins a quarter of one before 0.
std::unique_ptr<PreparedSum> make_box_on_gpu(const SumProblem& problem, const SumOptions& given, int device,
                                             const TreeBox& box) {
    auto options = given;
    if (options.leaf <= 0 && options.depth < 0) {
        const auto shape = gpu_fmm_shape(problem, options, cost_table_in_use().table);
        options.leaf = of_rank_0(options, static_cast<int>(std::lround(shape.leaf)));
    }
    return cuda::make_gpu_box_fmm(problem, options, device, box);
}

} // namespace

std::unique_ptr<PreparedSum> make_periodic_fmm(const SumProblem& problem, const SumOptions& options,
                                               const DeviceChoice& device) {
    if (device.kind == DeviceKind::cuda) {
        cuda::OpenSums open{.shape = OpenFmm::image_shape(problem, options),
                            .seconds = seconds_on_gpu(options, usual_gpu, cost_table_in_use().table),
                            .make = make_open_on_gpu};
        if (has_periodic_tree(problem)) {
            const auto shape = gpu_fmm_shape(shape_problem(problem), options, cost_table_in_use().table);
            open.make_in_box = make_box_on_gpu;
            open.softening = far_softening(problem, open.shape);
            open.low = of_rank_0(options, begin_of_box(shape.grid));
        }
        return cuda::make_gpu_image_sum(problem, options, device.gpus.front(), open);
    }
    if (has_periodic_tree(problem)) return std::make_unique<HostSum<BoxFmm>>(problem, options);
    return std::make_unique<HostSum<ImageSum<OpenFmm>>>(problem, options);
}

double periodic_fmm_seconds(const SumProblem& problem, const SumOptions& options, std::string_view gpu,
                            const CostTable& table) {
    const auto shape = OpenFmm::image_shape(problem, options);
    if (!gpu.empty() && has_periodic_tree(problem))
        return gpu_fmm_seconds(shape_problem(problem), options, gpu, table) +
               gpu_soft_seconds(problem, soft_tree_costs(problem, shape));
    if (!gpu.empty())
        return gpu_image_seconds(problem, shape, seconds_on_gpu(options, gpu, table), gpu, table);
    if (has_periodic_tree(problem)) return fmm_seconds(shape_problem(problem), options, {}, table);
    const auto alone = [&](const SumProblem& open) { return OpenFmm::seconds_by(open, options, table); };
    return image_seconds(problem, shape, alone) / thread_count(options.threads);
}

namespace {

// Beside the tree: points as given and wrapped, images across faces, and what serves far images: of softened
// ones points of blocks, twice.
double box_tree_bytes(const SumProblem& problem, const SumOptions& options,
                      const std::function<double(const SumProblem&)>& bytes) {
    const auto fmm = fmm_shape(problem, options, cost_table_in_use().table);
    const auto far = periodic_costs(problem, fmm.tree.coarse,
                                    {.separation = fmm.order.separation,
                                     .order = fmm.order.order,
                                     .goal = OpenFmm::image_shape(problem, options).goal});
    const auto n = static_cast<double>(problem.sources), m = static_cast<double>(problem.targets);
    const double images = std::pow(1.0 + 2.0 * fmm.order.separation / fmm.grid.across(), 3) - 1.0;
    const double points = 8.0 * (7.0 * n + (problem.self ? 0.0 : 7.0 * m)) + 60.0 * images * n;
    return points + (far.polynomials.is_soft ? 48.0 * (n + m) : 0.0) +
           8.0 * (far.harmonics.numbers + far.polynomials.numbers) + bytes(problem);
}

} // namespace

double periodic_fmm_bytes(const SumProblem& problem, const SumOptions& options, const DeviceChoice& device,
                          const std::function<double(const SumProblem&)>& bytes) {
    const auto shape = OpenFmm::image_shape(problem, options);
    const bool on_gpu = device.kind == DeviceKind::cuda;
    if (on_gpu && has_periodic_tree(problem)) {
        // points as given and wrapped; of images, where points meet, nothing is counted
        const auto n = static_cast<double>(problem.sources), m = static_cast<double>(problem.targets);
        const double points = 48.0 * (n + (problem.self ? 0.0 : m)) + 8.0 * n + 64.0 * m;
        const auto fmm = gpu_fmm_shape(shape_problem(problem), options, cost_table_in_use().table);
        const auto far = periodic_costs(
            problem, fmm.tree.coarse,
            {.separation = fmm.order.separation, .order = fmm.order.order, .goal = shape.goal});
        return points + 8.0 * far.harmonics.numbers + gpu_soft_bytes(problem, far.polynomials) +
               bytes(shape_problem(problem));
    }
    if (on_gpu)
        return gpu_image_bytes(problem, shape, seconds_on_gpu(options, usual_gpu, cost_table_in_use().table),
                               bytes);
    if (has_periodic_tree(problem)) return box_tree_bytes(shape_problem(problem), options, bytes);
    return image_bytes(
        problem, shape, [&](const SumProblem& open) { return OpenFmm::seconds(open, options); }, bytes);
}

} // namespace farfield
