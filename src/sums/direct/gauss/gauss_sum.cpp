#include "sums/direct/gauss/gauss_sum.h"

#include "backend/comm/communicator_access.h"
#include "backend/simd/isa.h"
#include "backend/threads/parallel.h"
#include "backend/threads/work_watch.h"
#include "base/arrays.h"
#include "base/spelling.h"
#include "base/stopwatch.h"
#include "sums/costs/cost_file.h"
#include "sums/costs/threads.h"
#include "sums/direct/common/costs.h"
#include "sums/direct/cpu/sums_of_ranks.h"
#include "sums/direct/gauss/gauss_pairs.h"
#include "sums/points/prepared.h"
#include "sums/points/read.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace farfield {
namespace {

constexpr std::int32_t targets_of_a_gauss_task = 256;

int gauss_threads(const SumProblem& problem, SumOptions options) {
    if (options.threads > 0) return options.threads;
    const auto& table = cost_table_in_use().table;
    options.threads = 1;
    return threads_for(0, direct_seconds(problem, options, {}, table), table);
}

class GaussSum : public PreparedSum {
public:
    GaussSum(const SumProblem& problem, const SumOptions& options)
        : problem_(problem), ranks_(CommunicatorAccess::transport(options.communicator)),
          isa_(resolve_isa(options.isa)), threads_(gauss_threads(problem, options)),
          pairs_(problem_, isa_, threads_) {}

    void set_points(const ConstArrayView& sources, const ConstArrayView& targets) override {
        const auto source_points = read_points_on(threads_, sources, "sources", problem_.dimension);
        const auto target_points = problem_.self
                                       ? RawVector<double>()
                                       : read_points_on(threads_, targets, "targets", problem_.dimension);
        frame_ = choose_gauss_frame(problem_,
                                    gauss_extent(source_points, target_points, problem_.dimension, threads_));
        pairs_.set_points(source_points, target_points, frame_, {}, {});
    }

    void execute(const ConstArrayView& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                 SumReport& report) override {
        LapWatch watch(problem_.times_its_parts());
        if (outputs.potential) require_host(outputs.potential, "potential");
        if (outputs.gradient) require_host(outputs.gradient, "gradient");
        const auto vectors = gauss_vectors_of(strengths);
        read_values_on(threads_, strengths, problem_.sources, "strengths", strengths_,
                       static_cast<int>(vectors));
        const int exponent = strength_exponent(strengths_, {}, 0, threads_);
        pairs_.set_strengths(strengths_, vectors, exponent, {});
        sums_.take(problem_, outputs, vectors, threads_);
        report.isa = isa_;
        report.threads = threads_;
        report.device = {.kind = DeviceKind::cpu};
        report.direct.variant = Variant::simd;
        report.prepare_seconds = watch.lap();
        if (sums_.with_potential() || sums_.with_gradient()) add_all(hooks);
        report.compute_seconds = watch.lap();
        write_gauss_sums(problem_, sums_, frame_, exponent, {}, outputs, threads_);
        const double rest = watch.last_lap();
        (problem_.times_its_parts() ? report.finish_seconds : report.compute_seconds) += rest;
    }

private:
    void add_all(const SumHooks& hooks) {
        const auto n = static_cast<double>(problem_.sources);
        const auto [first, last] = tasks_of(ranks_ != nullptr ? ranks_->rank() : 0);
        const double targets = first < last ? block_of(last - 1).end - block_of(first).begin : 0.0;
        WorkWatch watch(targets * n, hooks.progress, hooks.stop_requested);
        const BlockRange all{0, static_cast<std::int32_t>(problem_.sources)};
        parallel_for(threads_, last - first, [&, first = first](std::int64_t number) {
            if (watch.stopped()) return;
            const auto block = block_of(first + number);
            pairs_.add(block, {&all, 1}, sums_);
            watch.done(n * block.size());
        });
        watch.ask(); // also where this rank had nothing to do
        if (comm::any_rank(ranks_, watch.stopped())) throw Interrupted("the sum was given up before its end");
        if (ranks_ != nullptr) gather();
    }

    [[nodiscard]] BlockRange block_of(std::int64_t task) const {
        constexpr std::int64_t size = targets_of_a_gauss_task;
        return {static_cast<std::int32_t>(task * size),
                static_cast<std::int32_t>(std::min(problem_.targets, (task + 1) * size))};
    }
    /// Those of a rank: all, where there is one.
    [[nodiscard]] std::pair<std::int64_t, std::int64_t> tasks_of(int rank) const {
        constexpr std::int64_t size = targets_of_a_gauss_task;
        return tasks_of_rank((problem_.targets + size - 1) / size, rank,
                             ranks_ != nullptr ? ranks_->size() : 1);
    }
    /// All ranks get the sums of all.
    void gather() {
        std::vector<RowRanges> parts;
        for (int rank = 0; rank < ranks_->size(); ++rank) {
            const auto [first, last] = tasks_of(rank);
            parts.emplace_back();
            if (first < last) parts.back().emplace_back(block_of(first).begin, block_of(last - 1).end);
        }
        gather_rows(*ranks_, SumRows(sums_.all_columns()), parts);
    }

    SumProblem problem_;
    comm::Transport* ranks_; ///< each with all points, that share targets; null: this process is alone
    Isa isa_;
    int threads_;
    GaussPairs pairs_;
    GaussFrame frame_;
    RawVector<double> strengths_; ///< of the execution; its memory serves the next
    GaussSums sums_;
};

} // namespace

std::string why_no_gauss_sum(const SumProblem& problem, const SumOptions& options,
                             const DeviceChoice& device) {
    if (device.kind == DeviceKind::cuda && device.gpus.size() > 1)
        return fmt::format("sums of Gaussians run on one GPU; use {}",
                           spelled("device", fmt::format("cuda:{}", device.gpus.front())));
    if (device.kind == DeviceKind::cuda && options.variant != Variant::automatic)
        return fmt::format("sums of Gaussians on a GPU have one loop; leave {} out",
                           spelled("variant", name_of(options.variant)));
    if (options.variant != Variant::automatic && options.variant != Variant::simd)
        return fmt::format("{} has no loop for sums of Gaussians; use 'auto' or 'simd'",
                           spelled("variant", name_of(options.variant)));
    if (problem.sources >= std::int64_t{1} << 31 || problem.targets >= std::int64_t{1} << 31)
        return "sums of Gaussians take fewer than 2147483648 points";
    return {};
}

// The caller's points, and those of the loops; strengths likewise; sums, and rows on their way out.
double gauss_sum_bytes(const SumProblem& problem) {
    constexpr double number = 8.0;
    const auto n = static_cast<double>(problem.sources);
    const auto m = static_cast<double>(problem.targets);
    const double d = problem.dimension;
    const double vectors = problem.strength_vectors;
    return number * ((2.0 * d + 2.0 * vectors) * n + (problem.self ? 0.0 : 2.0 * d * m) +
                     2.0 * (1.0 + d) * vectors * m);
}

std::unique_ptr<PreparedSum> make_gauss_sum(const SumProblem& problem, const SumOptions& options) {
    return std::make_unique<GaussSum>(problem, options);
}

} // namespace farfield
