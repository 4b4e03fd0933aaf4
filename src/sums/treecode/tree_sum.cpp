#include "sums/treecode/tree_sum.h"

#include "backend/comm/communicator_access.h"
#include "backend/simd/isa.h"
#include "backend/threads/parallel.h"
#include "base/spelling.h"
#include "base/stopwatch.h"
#include "sums/costs/cost_file.h"
#include "sums/costs/fmm_coefficients.h"
#include "sums/costs/threads.h"
#include "sums/direct/cpu/ordered_results.h"
#include "sums/expansions/cartesian.h"
#include "sums/points/float_range.h"
#include "sums/points/power_of_two.h"
#include "sums/treecode/costs.h"
#include "sums/treecode/descent.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

namespace farfield {
std::string why_no_tree_sum(bool dipoles) {
    return fmt::format("method 'treecode' has no {}; use {}", dipoles ? "dipoles" : "output 'hessian'",
                       spelled("method", "fmm"));
}

TreecodeSum::TreecodeSum(const SumProblem& problem, const SumOptions& options, std::int32_t group)
    : TreecodeSum(problem, options) {
    shape_.group = group;
    shape_.local = false;
}

TreecodeSum::TreecodeSum(const SumProblem& problem, const SumOptions& options)
    : problem_(problem), options_(options), shape_(treecode_shape(problem, options)) {
    options_.isa = resolve_isa(options.isa);
    if (options.threads > 0) return;
    const auto& table = cost_table_in_use().table;
    options_.threads = 1;
    const double divided =
        treecode_seconds(problem, options_, {}, table) - cost_of(table, fmm_cost::cpu_fixed_seconds);
    options_.threads = threads_for(0, divided, table);
}

void TreecodeSum::set_points(RawVector<double> sources, RawVector<double> targets) {
    const int threads = options_.threads;
    frame_ = choose_frame(sources, targets, options_.softening, threads);
    require_float_range(sources, targets, frame_, options_.softening, options_.precision, threads);
    source_points_ = in_frame(frame_, std::move(sources), threads);
    target_points_ = in_frame(frame_, std::move(targets), threads);
    softening_ = std::ldexp(options_.softening, frame_.exponent);
    prepare();
}

void TreecodeSum::prepare() {
    Stopwatch clock;
    const int threads = options_.threads;
    const TreeShape tree{.most = shape_.leaf, .separation = 0};
    tree_.emplace(source_points_, target_points_, problem_.self, tree, threads);
    nodes_ = target_nodes(*tree_, shape_.group, threads);
    group_count_ =
        std::count_if(nodes_.begin(), nodes_.end(), [](const auto& node) { return node.children == 0; });
    tree_seconds_ = clock.lap();
    const auto set = [&](auto& sources, auto& targets) {
        const bool with_low = options_.precision == Precision::mixed;
        sources.set(tree_->sources().x, with_low, threads);
        if (!problem_.self) targets.set(tree_->targets().x, with_low, threads);
    };
    if (shape_.wide)
        set(double_sources_, double_targets_);
    else
        set(float_sources_, float_targets_);
}

bool TreecodeSum::refine(double error) { return refined(shape_, sharper_, problem_, options_, error); }

TileSums TreecodeSum::cleared_sums(const DirectResults& results, int threads) {
    const auto m = static_cast<std::size_t>(problem_.targets);
    double* const values = sums_.take(4 * m);
    parallel_parts(threads, 4 * m,
                   [&](std::size_t begin, std::size_t end) { std::fill(values + begin, values + end, 0.0); });
    TileSums sums;
    if (results.potential != nullptr) sums.potential = values;
    for (std::size_t axis = 0; axis < 3 && results.field != nullptr; ++axis)
        sums.field[axis] = values + (axis + 1) * m;
    return sums;
}

template <class T>
void TreecodeSum::sum_groups(const BlockSumTask& task, SumReport& report) {
    Stopwatch whole;
    const auto done = descend<T>(*tree_, cells_, shape_, nodes_, task);
    const double share = whole.lap() / std::max(done.walk + done.local + done.near + done.far, 1e-30);
    report.passes.push_back({"walk", done.walk * share});
    if (cells_.act_locally()) report.passes.push_back({"M2L, L2P", done.local * share});
    report.passes.push_back({"P2P", done.near * share});
    report.passes.push_back({"M2P", done.far * share});
    report.treecode.near_pairs = static_cast<std::int64_t>(done.near_pairs);
    report.treecode.far_pairs = static_cast<std::int64_t>(done.far_pairs);
}

template <class T>
void TreecodeSum::compute_sums(PreparedPoints<T>& sources, PreparedPoints<T>& targets, const TileSums& sums,
                               SumReport& report, const SumHooks& hooks) {
    auto* const ranks = CommunicatorAccess::transport(options_.communicator);
    WorkWatch watch(static_cast<double>(problem_.targets) / options_.communicator.size(), hooks.progress,
                    hooks.stop_requested);
    Stopwatch clock;
    sources.set_strengths(strengths_, 0, report.threads);
    cells_.make(*tree_, strengths_, shape_, report.threads, ranks);
    report.passes.push_back({"P2M, M2M", clock.lap()});
    sum_groups<T>({.precision = options_.precision,
                   .outputs = static_cast<LoopOutputs>((sums.potential != nullptr ? potential_only : 0) |
                                                       (sums.field[0] != nullptr ? field_only : 0)),
                   .targets = problem_.self ? sources.view() : targets.view(),
                   .sources = sources.view(),
                   .softening = softening_,
                   .sums = sums,
                   .isa = options_.isa,
                   .threads = report.threads,
                   .watch = &watch,
                   .ranks = ranks},
                  report);
    if (comm::any_rank(ranks, watch.stopped())) throw Interrupted("the sum was given up before its end");
}

void TreecodeSum::compute(std::span<const double> strengths, std::span<const double> dipoles,
                          const DirectResults& results, SumReport& report, const SumHooks& hooks) {
    if (!dipoles.empty() || results.hessian != nullptr)
        throw InvalidArgument(why_no_tree_sum(!dipoles.empty()));
    Stopwatch clock;
    report.isa = options_.isa;
    report.device = {.kind = DeviceKind::cpu};
    report.threads = options_.threads;
    report.treecode = {.order = shape_.order,
                       .theta = shape_.theta,
                       .accuracy = shape_.accuracy,
                       .levels = tree_->levels(),
                       .cells = static_cast<std::int64_t>(tree_->cells().size()),
                       .groups = group_count_,
                       .tree_seconds = tree_seconds_};
    const int exponent = strength_exponent(strengths, dipoles, frame_.exponent, report.threads);
    const PowerOfTwo scale(exponent);
    const auto& from = tree_->sources().from;
    strengths_.resize(from.size());
    parallel_parts(report.threads, from.size(), [&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i)
            strengths_[i] = scale.product(strengths[static_cast<std::size_t>(from[i])]);
    });
    const auto sums = cleared_sums(results, report.threads);
    report.prepare_seconds = clock.lap();
    if (!strengths_.empty() && problem_.targets > 0) {
        if (shape_.wide)
            compute_sums(double_sources_, double_targets_, sums, report, hooks);
        else
            compute_sums(float_sources_, float_targets_, sums, report, hooks);
    }
    report.compute_seconds = clock.lap();
    write_ordered({.problem = problem_,
                   .frame = frame_,
                   .softening = softening_,
                   .precision = options_.precision,
                   .source_points = source_points_,
                   .target_points = target_points_,
                   .source_from = tree_->sources().from,
                   .target_from = tree_->targets().from,
                   .strengths = strengths_,
                   .strength_exponent = exponent,
                   .sums = sums,
                   .stop_requested = hooks.stop_requested},
                  results, report);
    report.finish_seconds = clock.lap();
}

} // namespace farfield
