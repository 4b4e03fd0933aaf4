#include "sums/treecode/tree_sum.h"

#include "backend/comm/communicator_access.h"
#include "backend/comm/transport.h"
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
#include "sums/points/over_ranks.h"
#include "sums/points/power_of_two.h"
#include "sums/treecode/costs.h"

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
    : problem_(problem), options_(options), shape_(treecode_shape(problem, options)),
      own_points_(TreecodePoints::of(options.communicator)) {
    options_.isa = resolve_isa(options.isa);
    if (options.threads > 0) return;
    const auto& table = cost_table_in_use().table;
    options_.threads = 1;
    const double divided =
        treecode_seconds(problem, options_, {}, table) - cost_of(table, fmm_cost::cpu_fixed_seconds);
    options_.threads = threads_for(0, divided, table);
}

void TreecodeSum::set_frame(const RawVector<double>& sources, const RawVector<double>& targets) {
    const int threads = options_.threads;
    if (own_points_) {
        frame_ = frame_over_ranks(own_points_->ranks(), sources, targets, options_.softening, threads);
        require_float_range_over_ranks(own_points_->ranks(), sources, targets, frame_, options_.softening,
                                       options_.precision, threads);
    } else {
        frame_ = choose_frame(sources, targets, options_.softening, threads);
        require_float_range(sources, targets, frame_, options_.softening, options_.precision, threads);
    }
}

void TreecodeSum::set_points(RawVector<double> sources, RawVector<double> targets) {
    const int threads = options_.threads;
    set_frame(sources, targets);
    source_points_ = in_frame(frame_, std::move(sources), threads);
    target_points_ = in_frame(frame_, std::move(targets), threads);
    softening_ = std::ldexp(options_.softening, frame_.exponent);
    prepare();
}

void TreecodeSum::prepare() {
    Stopwatch clock;
    const int threads = options_.threads;
    auto* const ranks = CommunicatorAccess::transport(options_.communicator);
    shape_ = comm::from_rank(ranks, shape_); // other hosts may round otherwise
    const TreeShape tree{.most = shape_.leaf, .separation = 0};
    tree_.emplace(source_points_, target_points_, problem_.self, tree, threads,
                  own_points_ ? ranks : nullptr);
    nodes_ = target_nodes(*tree_, shape_.group);
    if (own_points_) {
        own_points_->take(*tree_, nodes_, source_points_, target_points_, threads);
    } else {
        set_boxes_of_groups(nodes_, tree_->targets().x, {0, static_cast<std::int32_t>(tree_->target_count())},
                            threads);
        set_boxes_of_others(nodes_);
    }
    group_count_ =
        std::count_if(nodes_.begin(), nodes_.end(), [](const auto& node) { return node.children == 0; });
    tree_seconds_ = clock.lap();
    if (shape_.wide)
        prepare_points(double_sources_, double_targets_);
    else
        prepare_points(float_sources_, float_targets_);
}

// Sources of ranks come with the strengths, on which it depends which they are.
template <class T>
void TreecodeSum::prepare_points(PreparedPoints<T>& sources, PreparedPoints<T>& targets) {
    const bool with_low = options_.precision == Precision::mixed;
    if (!own_points_) sources.set(tree_->sources().x, with_low, options_.threads);
    if (problem_.self) return;
    targets.set(own_points_ ? own_points_->target_rows() : tree_->targets().x, with_low, options_.threads);
}

bool TreecodeSum::refine(double error) {
    if (!refined(shape_, sharper_, problem_, options_, error)) return false;
    shape_ = comm::from_rank(CommunicatorAccess::transport(options_.communicator), shape_);
    return true;
}

TileSums TreecodeSum::cleared_sums(WorkArray& memory, std::size_t rows, const DirectResults& results,
                                   int threads) const {
    double* const values = memory.take(4 * rows);
    parallel_parts(threads, 4 * rows,
                   [&](std::size_t begin, std::size_t end) { std::fill(values + begin, values + end, 0.0); });
    TileSums sums;
    if (results.potential != nullptr) sums.potential = values;
    for (std::size_t axis = 0; axis < 3 && results.field != nullptr; ++axis)
        sums.field[axis] = values + (axis + 1) * rows;
    return sums;
}

void TreecodeSum::report_work(const DescentWork& done, double seconds, SumReport& report) const {
    const double share = seconds / std::max(done.walk + done.local + done.near + done.far, 1e-30);
    report.passes.push_back({"walk", done.walk * share});
    if (cells_.act_locally()) report.passes.push_back({"M2L, L2P", done.local * share});
    report.passes.push_back({"P2P", done.near * share});
    report.passes.push_back({"M2P", done.far * share});
    report.treecode.near_pairs = static_cast<std::int64_t>(done.near_pairs);
    report.treecode.far_pairs = static_cast<std::int64_t>(done.far_pairs);
}

BlockSumTask TreecodeSum::task_of(const DirectResults& results, const SumReport& report,
                                  WorkWatch& watch) const {
    BlockSumTask task;
    task.precision = options_.precision;
    task.outputs = static_cast<LoopOutputs>((results.potential != nullptr ? potential_only : 0) |
                                            (results.field != nullptr ? field_only : 0));
    task.softening = softening_;
    task.isa = options_.isa;
    task.threads = report.threads;
    task.watch = &watch;
    return task;
}

// First sums at groups that meet own sources alone, then the sources that the others name, then sums at
// these. All go back to the ranks that gave the targets. A rank that is stopped goes on to the end, so that
// no other waits.
template <class T>
DescentWork TreecodeSum::sum_own(PreparedPoints<T>& sources, PreparedPoints<T>& targets,
                                 const DirectResults& results, BlockSumTask task) {
    const auto& own = *own_points_;
    const bool self = problem_.self;
    const auto& target_x = self ? own.source_rows() : own.target_rows();
    const auto set_sources = [&](const TargetRows& x, std::span<const double> strengths) {
        sources.set(x, options_.precision == Precision::mixed, task.threads);
        sources.set_strengths(strengths, 0, task.threads);
        task.sources = sources.view();
        task.targets = self ? sources.view() : targets.view();
    };
    set_sources(own.source_rows(), strengths_);
    const auto sums = cleared_sums(memory_of_sums_, target_x[0].size(), results, task.threads);
    task.sums = sums;
    DescentWork work;
    auto groups = find_sources<T>(*tree_, cells_, shape_, nodes_,
                                  {own.own_sources(), own.own_targets(), target_x}, task, work);
    task.watch->ask(); // a rank without targets, too
    const auto near = own.bring(*tree_, strengths_, groups, task.threads);
    set_sources(near.x, near.strengths);
    if (self) // in memory that serves the given rows, too, which come later
        task.sums = cleared_sums(memory_of_given_, near.x[0].size(), results, task.threads);
    sum_groups<T>(self ? near.x : target_x, cells_, shape_, self, groups, task, work);
    if (self) take_sums(groups, task.sums, near.own_begin, sums);
    const auto& given = own.targets();
    sums_ =
        cleared_sums(memory_of_given_, std::max<std::size_t>(given.order().size(), 1), results, task.threads);
    given.bring_back(sums, sums_);
    work.add_ranks(own.ranks());
    return work;
}

// Of groups, from rows among others' sources to own rows.
void TreecodeSum::take_sums(std::span<const std::vector<GroupSources>> groups, const TileSums& from,
                            std::int32_t own_begin, const TileSums& to) {
    const auto take = [&](const double* values, double* own) {
        if (values == nullptr) return;
        for (const auto& part : groups)
            for (const auto& one : part) {
                const auto rows = one.group.targets;
                std::copy(values + rows.begin, values + rows.end, own + (rows.begin - own_begin));
            }
    };
    take(from.potential, to.potential);
    for (std::size_t axis = 0; axis < 3; ++axis) take(from.field[axis], to.field[axis]);
}

template <class T>
void TreecodeSum::compute_sums(PreparedPoints<T>& sources, PreparedPoints<T>& targets,
                               const DirectResults& results, SumReport& report, const SumHooks& hooks) {
    auto* const ranks = CommunicatorAccess::transport(options_.communicator);
    const double own_targets = own_points_
                                   ? own_points_->own_targets().size()
                                   : static_cast<double>(problem_.targets) / options_.communicator.size();
    WorkWatch watch(own_targets, hooks.progress, hooks.stop_requested);
    Stopwatch clock;
    DescentWork done;
    if (own_points_) {
        const auto own = own_points_->own_sources();
        const auto strengths =
            std::span<const double>(strengths_).first(static_cast<std::size_t>(own.size()));
        const SourceRows rows{own_points_->source_rows(), strengths, own.begin};
        cells_.make_of_ranks(*tree_, rows, shape_, report.threads, *ranks, own_points_->cuts());
        report.passes.push_back({"P2M, M2M", clock.lap()});
        done = sum_own<T>(sources, targets, results, task_of(results, report, watch));
    } else {
        sums_ = cleared_sums(memory_of_sums_, static_cast<std::size_t>(problem_.targets), results,
                             report.threads);
        sources.set_strengths(strengths_, 0, report.threads);
        cells_.make(*tree_, {tree_->sources().x, strengths_}, shape_, report.threads, ranks);
        report.passes.push_back({"P2M, M2M", clock.lap()});
        auto task = task_of(results, report, watch);
        task.sums = sums_;
        task.targets = problem_.self ? sources.view() : targets.view();
        task.sources = sources.view();
        task.ranks = ranks;
        done = descend<T>(*tree_, cells_, shape_, nodes_, task);
    }
    report_work(done, clock.lap(), report);
    if (comm::any_rank(ranks, watch.stopped())) throw Interrupted("the sum was given up before its end");
}

// In the frame, in the order of the tree. @returns their exponent
int TreecodeSum::set_strengths(std::span<const double> strengths, int threads) {
    if (own_points_) {
        const int exponent =
            strength_exponent_over_ranks(own_points_->ranks(), strengths, {}, frame_.exponent, threads);
        const auto& sources = own_points_->sources();
        strengths_.resize(static_cast<std::size_t>(sources.rows()));
        sources.bring(strengths, 1, PowerOfTwo(exponent), strengths_.data());
        return exponent;
    }
    const int exponent = strength_exponent(strengths, {}, frame_.exponent, threads);
    const PowerOfTwo scale(exponent);
    const auto& from = tree_->sources().from;
    strengths_.resize(from.size());
    parallel_parts(threads, from.size(), [&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i)
            strengths_[i] = scale.product(strengths[static_cast<std::size_t>(from[i])]);
    });
    return exponent;
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
    const int exponent = set_strengths(strengths, report.threads);
    report.prepare_seconds = clock.lap();
    if (tree_->source_count() > 0 && tree_->target_count() > 0) {
        if (shape_.wide)
            compute_sums(double_sources_, double_targets_, results, report, hooks);
        else
            compute_sums(float_sources_, float_targets_, results, report, hooks);
    } else {
        sums_ = cleared_sums(memory_of_sums_, static_cast<std::size_t>(problem_.targets), results,
                             report.threads);
    }
    report.compute_seconds = clock.lap();
    write_results(strengths, exponent, results, report, hooks);
    report.finish_seconds = clock.lap();
}

void TreecodeSum::write_results(std::span<const double> strengths, int exponent, const DirectResults& results,
                                SumReport& report, const SumHooks& hooks) {
    OrderedSums ordered{.problem = problem_,
                        .frame = frame_,
                        .softening = softening_,
                        .precision = options_.precision,
                        .source_points = source_points_,
                        .target_points = target_points_,
                        .source_from = tree_->sources().from,
                        .target_from = tree_->targets().from,
                        .strengths = strengths_,
                        .strength_exponent = exponent,
                        .sums = sums_,
                        .stop_requested = hooks.stop_requested};
    if (!own_points_) return write_ordered(ordered, results, report);
    ordered.source_from = {};
    ordered.target_from = own_points_->targets().order();
    ordered.strengths = {};
    ordered.numbers = own_points_->numbers();
    write_on_ranks(own_points_->ranks(), ordered, strengths, {}, results, report);
}

} // namespace farfield
