#include "studies/bench_points.h"
#include "studies/cuda/ceilings.h"
#include "studies/fmm_strategies/strategy_tables.h"

#include <farfield/sum.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

namespace farfield::strategies {

Measurements::Measurements(const ReproduceOptions& options, const StudyDevice& device)
    : options_(options), device_(device),
      charges_(uniform_charges(std::min(options.most_points, slides_points))) {
    if (options.quick || !device.gpu) {
        orders_ = {2, 6, 10};
        depths_ = {2, 3};
    } else {
        for (int order = 2; order <= most_order; order += 2) orders_.push_back(order);
        depths_ = {2, 3, 4};
    }
    if (!device.gpu) return;
    tell("peak of multiply-adds");
    const auto ceilings = cuda::measure_ceilings();
    peak_double_ = ceilings.fma_double;
    peak_float_ = ceilings.fma_float;
}

auto Measurements::prepared(int order, int depth) -> Prepared& {
    if (!current_ || current_->problem.order != order || current_->problem.depth != depth) {
        current_.reset(); // its memory first
        tell(fmt::format("moments and the host's result, p = {}, depth {}", order, depth));
        Prepared next{make_problem(charges_, order, depth, options_.threads), {}, {}};
        next.boxes = sample_boxes(depth, order > 10 ? 16 : 32);
        const auto begun = std::chrono::steady_clock::now();
        next.exact = host_mu(next.problem, next.boxes, options_.threads);
        const double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
        double done = 0; // translations of the sample
        for (const auto& box : next.boxes)
            for (int n = 0; n < neighbours; ++n) {
                const int dim = boxes_an_axis(box.level);
                done += neighbour_of(box_at(box.box, dim), n, dim).source >= 0 ? 1 : 0;
            }
        next.host_seconds = seconds * static_cast<double>(translations_of_depth(depth)) / done;
        current_.emplace(std::move(next));
    }
    return *current_;
}

StrategyRuns& Measurements::runs(Prepared& problem, bool is_double) {
    auto& kept = is_double ? problem.in_double : problem.in_float;
    if (!kept) kept.emplace(problem.problem, is_double);
    return *kept;
}

// Long runs are not repeated: what disturbs a second is small beside it.
template <class Run>
double Measurements::median_seconds(Run&& run) const {
    const double first = 1e-3 * run();
    if (first > 0.1) return first;
    std::vector<double> seconds;
    for (int repeat = 0; repeat < std::max(options_.repeats, 3); ++repeat) seconds.push_back(1e-3 * run());
    return median(seconds);
}

MeasuredTime Measurements::time(Strategy strategy, int order, int depth, bool is_double) {
    const auto key = std::tuple(strategy, order, depth, is_double);
    if (const auto known = times_.find(key); known != times_.end()) return known->second;
    auto& problem = prepared(order, depth);
    tell(fmt::format("{}, {}, p = {}, depth {}", strategy_table[static_cast<std::size_t>(strategy)].name,
                     is_double ? "double" : "float", order, depth));
    auto& kernels = runs(problem, is_double);
    MeasuredTime measured;
    measured.seconds = median_seconds([&] { return kernels.run(strategy); });
    measured.error = error_of(problem.problem, kernels.fetch(), problem.boxes, problem.exact);
    times_.emplace(key, measured);
    return measured;
}

double Measurements::indices(int order, int depth) {
    const auto key = std::pair(order, depth);
    if (const auto known = indices_.find(key); known != indices_.end()) return known->second;
    auto& kernels = runs(prepared(order, depth), true);
    const double seconds = median_seconds([&] { return kernels.run_indices(); });
    indices_.emplace(key, seconds);
    return seconds;
}

std::map<std::string, double, std::less<>> Measurements::whole_sum() const {
    tell("a whole sum");
    const auto points = matrix_view(std::span<const double>(charges_.xyz), 3);
    SumPlan plan(points, {.kernel = Kernel::coulomb,
                          .method = Method::fmm,
                          .order = slides_order,
                          .depth = slides_depth,
                          .precision = Precision::float64,
                          .device = {.kind = DeviceKind::cuda, .gpus = {*device_.gpu}}});
    std::vector<double> potential(charges_.size()), field(charges_.xyz.size());
    std::map<std::string, std::vector<double>> passes;
    for (int repeat = -2; repeat < std::max(options_.repeats, 5); ++repeat) { // the first ones warm up
        plan.execute(
            std::span<const double>(charges_.strength),
            {.potential = std::span<double>(potential), .field = matrix_view(std::span<double>(field), 3)});
        for (const auto& [name, seconds] : plan.report().passes)
            if (repeat >= 0) passes[name].push_back(seconds);
    }
    std::map<std::string, double, std::less<>> out;
    for (const auto& [name, seconds] : passes) out[name] = median(seconds);
    return out;
}

double Measurements::host(int order, int depth) {
    const auto key = std::pair(order, depth);
    if (const auto known = host_.find(key); known != host_.end()) return known->second;
    const double seconds = prepared(order, depth).host_seconds;
    host_.emplace(key, seconds);
    return seconds;
}

} // namespace farfield::strategies
