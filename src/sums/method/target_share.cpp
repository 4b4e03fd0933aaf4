#include "sums/method/target_share.h"

#include "backend/comm/agree.h"
#include "backend/comm/communicator_access.h"
#include "backend/cuda/host_copy.h"
#include "base/arrays.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace farfield {
namespace {

class TargetShare : public PreparedSum {
public:
    TargetShare(const MethodInfo& method, const SumProblem& problem, SumOptions options,
                const DeviceChoice& device)
        : problem_(problem), ranks_(*CommunicatorAccess::transport(options.communicator)),
          begins_(comm::equal_parts(ranks_, problem.targets)) {
        auto mine = problem;
        mine.self = false;
        mine.targets = count();
        options.communicator = {};
        comm::together(ranks_, [&] {
            if (count() > 0) sum_ = method.make(mine, options, device);
        });
    }

    void set_points(const ConstArrayView& sources, const ConstArrayView& targets) override {
        const auto& all = problem_.self ? sources : targets;
        comm::together(ranks_, [&] {
            if (sum_) sum_->set_points(sources, rows_of(all, first(), count()));
        });
    }

    void execute(const ConstArrayView& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                 SumReport& report) override {
        run(outputs, report, [&](const SumOutputs& mine) { sum_->execute(strengths, mine, hooks, report); });
    }

    void execute_with_dipoles(const ConstArrayView& strengths, const ConstArrayView& dipoles,
                              const SumOutputs& outputs, const SumHooks& hooks, SumReport& report) override {
        run(outputs, report, [&](const SumOutputs& mine) {
            sum_->execute_with_dipoles(strengths, dipoles, mine, hooks, report);
        });
    }

    bool refine(double error) override { return comm::any_rank(ranks_, sum_ && sum_->refine(error)); }

private:
    [[nodiscard]] std::int64_t first() const { return begins_[static_cast<std::size_t>(ranks_.rank())]; }
    [[nodiscard]] std::int64_t count() const {
        return begins_[static_cast<std::size_t>(ranks_.rank()) + 1] - first();
    }

    template <class Execute>
    void run(const SumOutputs& outputs, SumReport& report, const Execute& execute) {
        SumOutputs mine;
        for (const auto& info : problem_.kernel->outputs)
            if (const auto& view = outputs.of(info.output))
                mine.of(info.output) = rows_of(view, first(), count());
        comm::together(ranks_, [&] {
            for (const auto& info : problem_.kernel->outputs)
                if (const auto& view = outputs.of(info.output)) require_host(view, name_of(info.output));
            if (sum_) with_first_row([&] { execute(mine); });
        });
        for (const auto& info : problem_.kernel->outputs)
            if (const auto& view = outputs.of(info.output)) gather_targets(ranks_, view, begins_);
        count_pairs(report);
    }

    /// Messages name rows of the part.
    template <class Work>
    void with_first_row(const Work& work) const {
        try {
            work();
        } catch (const InvalidArgument& error) {
            if (first() == 0) throw;
            throw InvalidArgument(
                fmt::format("{} (rows of targets count from row {} on)", error.what(), first()));
        }
    }

    void count_pairs(SumReport& report) const {
        for (auto* pairs : {&report.fgt.near_pairs, &report.fmm.near_pairs, &report.lattice.near_pairs,
                            &report.direct.coincident_pairs_skipped})
            *pairs = comm::sum_of_ranks(ranks_, *pairs);
    }

    SumProblem problem_;
    comm::Transport& ranks_;
    std::vector<std::int64_t> begins_; ///< of the ranks' targets
    std::unique_ptr<PreparedSum> sum_; ///< null without targets
};

} // namespace

void gather_targets(comm::Transport& ranks, const ArrayView& view, const std::vector<std::int64_t>& begins) {
    const auto width = view.ndim == 2 ? view.shape[1] : 1;
    const auto rank = static_cast<std::size_t>(ranks.rank());
    const auto count = begins[rank + 1] - begins[rank];
    const auto mine =
        count > 0 ? cuda::host_copy(rows_of(view, begins[rank], count), count, width) : std::vector<double>();
    const auto all = comm::gathered_parts(ranks, std::span<const double>(mine), width, begins);
    if (begins.back() > 0) write_values(view, all.data(), begins.back(), width);
}

bool shares_targets(const MethodInfo& method, const SumProblem& problem, const DeviceChoice& device) {
    if (device.kind != DeviceKind::cuda || !method.on_gpu) return false;
    return !problem.self || !problem.without_own();
}

bool gives_own_points(const SumOptions& options, const DeviceChoice& device, bool takes_own) {
    return device.kind != DeviceKind::cuda && takes_own &&
           CommunicatorAccess::gives_own(options.communicator);
}

double held_part(const SumOptions& options, bool own) {
    return own ? std::min(1.0, 2.0 / options.communicator.size()) : 1.0;
}

double bytes_for_other_ranks(const SumProblem& problem, const SumOptions& options,
                             const DeviceChoice& device) {
    const int ranks = options.communicator.size();
    if (ranks == 1 || device.kind != DeviceKind::cuda) return 0.0;
    constexpr double turns = 2.0, spare = 1.25;
    const auto n = static_cast<double>(problem.sources), m = static_cast<double>(problem.targets);
    const bool hessian = options.outputs.has(Output::hessian);
    const double read_by_others = turns * spare * (hessian ? 20.0 : 8.0) * m / ranks;
    if (CommunicatorAccess::gives_everything(options.communicator)) return 8.0 * read_by_others;
    const double points = 3.0 * n + (problem.self ? 0.0 : 3.0 * m);
    const double strengths = (options.dipoles ? 4.0 : 1.0) * n;
    return 8.0 * (read_by_others + points + strengths + turns * spare * 3.0 * std::max(n, m) / ranks);
}

std::unique_ptr<PreparedSum> make_target_share(const MethodInfo& method, const SumProblem& problem,
                                               const SumOptions& options, const DeviceChoice& device) {
    return std::make_unique<TargetShare>(method, problem, options, device);
}

} // namespace farfield
