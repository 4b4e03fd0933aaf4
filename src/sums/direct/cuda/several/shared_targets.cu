// Separate targets on several GPUs: a OneGpu for each share of the targets, all in one frame. Of ranks each
// has one of them.
#include "sums/direct/cuda/several/shared_targets.h"

#include "backend/comm/agree.h"
#include "backend/comm/communicator_access.h"
#include "backend/threads/crew.h"
#include "base/spelling.h"
#include "sums/direct/cuda/division.h"
#include "sums/direct/cuda/one_gpu.cuh"
#include "sums/direct/cuda/several/arguments.h"
#include "sums/method/target_share.h"
#include "sums/points/over_ranks.h"

#include <farfield/error.h>

#include <algorithm>
#include <chrono>
#include <string>

namespace farfield::cuda {

namespace {

/// Rows of a view of the host.
template <class View>
View rows_of(const View& view, Interval rows) {
    auto part = view;
    using Byte =
        std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(view.data)>>, const char, char>;
    const auto offset = rows.begin * view.strides[0] * static_cast<std::int64_t>(size_of(view.dtype));
    if (view) part.data = static_cast<Byte*>(view.data) + offset;
    part.shape[0] = rows.size();
    return part;
}

class SharedTargets : public PreparedSum {
public:
    SharedTargets(const SumOptions& options, const std::vector<int>& devices)
        : ranks_(CommunicatorAccess::transport(options.communicator)),
          crew_(static_cast<int>(devices.size())) {
        for (const int device : devices) parts_.push_back(std::make_unique<OneGpu>(options, device, false));
        devices_ = devices;
    }

    void set_points(const ConstArrayView& sources, const ConstArrayView& targets) override {
        require_host_here(sources, "sources");
        require_host_here(targets, "targets");
        const int all = checked_count(static_cast<std::size_t>(targets.shape[0]));
        for (std::size_t k = 0; k < parts_.size(); ++k) parts_[k]->first_target = share(k, all).begin;
        comm::together(ranks_, [&] {
            on_each_gpu(
                [&](std::size_t k) { parts_[k]->set_points(sources, rows_of(targets, share(k, all))); });
        });
        auto ranges = parts_.front()->ranges;
        for (const auto& part : parts_)
            for (std::size_t k = 0; k < 3; ++k)
                ranges[k] = {std::min(ranges[k].low, part->ranges[k].low),
                             std::max(ranges[k].high, part->ranges[k].high)};
        if (ranks_ != nullptr) ranges = extents_over_ranks(*ranks_, ranges);
        if (sources.shape[0] + all > 0)
            for (const auto& part : parts_) part->share(ranges, all);
        targets_ = all;
    }

    void execute(const ConstArrayView& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                 SumReport& report) override {
        const auto begin = Clock::now();
        require_host_here(strengths, "strengths");
        if (outputs.potential) require_host_here(outputs.potential, "potential");
        if (outputs.field) require_host_here(outputs.field, "field");
        std::vector<SumReport> reports(parts_.size(), report);
        comm::together(ranks_, [&] {
            on_each_gpu([&](std::size_t k) {
                SumOutputs own;
                if (outputs.potential) own.potential = rows_of(outputs.potential, share(k, targets_));
                if (outputs.field) own.field = rows_of(outputs.field, share(k, targets_));
                parts_[k]->execute(strengths, own, {}, reports[k]);
            });
        });
        report.direct.variant = reports.front().direct.variant;
        report.device = {.kind = DeviceKind::cuda, .gpus = devices_};
        for (const auto& one : reports) {
            report.compute_seconds = std::max(report.compute_seconds, one.compute_seconds);
            report.prepare_seconds = std::max(report.prepare_seconds, one.prepare_seconds);
            report.direct.coincident_pairs_skipped += one.direct.coincident_pairs_skipped;
        }
        if (ranks_ != nullptr) give_to_ranks(outputs, report);
        report.finish_seconds = std::max(0.0, seconds_between(begin, Clock::now()) - report.prepare_seconds -
                                                  report.compute_seconds);
        if (hooks.progress) hooks.progress(1.0);
    }

private:
    [[nodiscard]] Interval share(std::size_t part, int all) const {
        if (ranks_ != nullptr) return interval_of_part(all, ranks_->rank(), ranks_->size());
        return interval_of_part(all, static_cast<int>(part), static_cast<int>(parts_.size()));
    }

    void give_to_ranks(const SumOutputs& outputs, SumReport& report) const {
        const auto begins = comm::equal_parts(*ranks_, targets_); // as `share`
        if (outputs.potential) gather_targets(*ranks_, outputs.potential, begins);
        if (outputs.field) gather_targets(*ranks_, outputs.field, begins);
        report.direct.coincident_pairs_skipped =
            comm::sum_of_ranks(*ranks_, report.direct.coincident_pairs_skipped);
    }

    template <class Work>
    void on_each_gpu(const Work& work) {
        crew_.run([&](int k) { work(static_cast<std::size_t>(k)); });
    }

    comm::Transport* ranks_; ///< null: GPUs of one process
    std::vector<int> devices_;
    std::vector<std::unique_ptr<OneGpu>> parts_;
    int targets_ = 0;
    Crew crew_; ///< a thread for each GPU
};

} // namespace

std::unique_ptr<PreparedSum> make_shared_targets(const SumOptions& options, const std::vector<int>& devices) {
    const auto rung = rung_of(options.variant, false, options.precision);
    if (rung != Rung::register_tile)
        throw InvalidArgument(spelled("variant", info_of(rung).name) +
                              " cannot be divided among GPUs; use 'register-tile', or name one GPU");
    require_own_streams(options);
    return std::make_unique<SharedTargets>(options, devices);
}

} // namespace farfield::cuda
