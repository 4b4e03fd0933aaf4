// The first GPU has the caller's arrays; others get copies, compute a share of the targets, and send the sums
// of these to the first, where all leave together. Ranks, each with a GPU, have the arrays anyway, and send
// their sums to all.
#include "sums/fmm/gpu_fmm.h"

#include "backend/comm/communicator_access.h"
#include "backend/threads/crew.h"
#include "sums/costs/cost_file.h"
#include "sums/direct/cuda/framed_sum.cuh"
#include "sums/direct/cuda/several/exchange.cuh"
#include "sums/direct/cuda/several/rank_rows.cuh"
#include "sums/fmm/cuda/fmm_part.cuh"
#include "sums/fmm/gpu_shape.h"
#include "sums/tree/cuda/launch.cuh"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

namespace farfield::cuda {
namespace {

/// A GPU beside the first: made with it current.
struct OtherGpu {
    OtherGpu(int device, TreeShare share) : device(device), part(share) {}

    int device;
    Stream stream, early; ///< for sums; for those of their copies that need not wait for all
    Signal done;
    DeviceArray<double> sources, targets, strengths, dipoles; ///< copies of the first GPU's
    FmmPart part;

    /// Null where there is nothing to copy.
    const double* copied(DeviceArray<double>& to, const double* from, std::size_t count) {
        if (from == nullptr) return nullptr;
        make_room(to, count);
        copy(to.data(), from, count, stream.get());
        return to.data();
    }
};

class FmmOnGpu : public FramedSum {
public:
    FmmOnGpu(const SumProblem& problem, const SumOptions& options, const std::vector<int>& devices)
        : FramedSum(problem, options, devices.front()), devices_(devices),
          shape_(gpu_fmm_shape(problem, options, cost_table_in_use().table)),
          ranks_(options.communicator.size() > 1 ? CommunicatorAccess::transport(options.communicator)
                                                 : nullptr),
          own_(share_of(0)) {
        if (ranks_ != nullptr) rank_rows_.emplace(*ranks_, options.exchange);
        if (devices_.size() == 1) return;
        if (options.exchange == Exchange::automatic || options.exchange == Exchange::peer)
            usable_exchange(options.exchange, devices_);
        for (std::size_t k = 1; k < devices_.size(); ++k) {
            const DeviceScope scope(devices_[k]);
            others_.push_back(std::make_unique<OtherGpu>(devices_[k], share_of(k)));
        }
        if (options.multi_gpu == MultiGpu::threads)
            crew_ = std::make_unique<Crew>(static_cast<int>(devices_.size()));
    }

    void set_points(const ConstArrayView& sources, const ConstArrayView& targets) override {
        const DeviceScope scope(device_);
        fit_count(sources);
        if (const auto ranges = take_points(sources, targets)) fit_shape(*ranges);
        orders_ = {};
        prepare();
    }

    bool refine(double error) override {
        if (options_.order > 0) return false;
        const auto order = next_order(orders_, shape_, error, problem_.tolerance);
        if (!order) return false;
        shape_ = gpu_fmm_shape(problem_, options_, cost_table_in_use().table, *order, softening_in_sides_);
        const DeviceScope scope(device_);
        prepare();
        return true;
    }

private:
    [[nodiscard]] TreeShare share_of(std::size_t gpu) const {
        if (ranks_ != nullptr) return {ranks_->rank(), ranks_->size()};
        return {static_cast<int>(gpu), static_cast<int>(devices_.size())};
    }

    // Separate targets make a tree of each share; ranks have no way for multipoles.
    [[nodiscard]] bool shares_multipoles() const { return !others_.empty() && problem_.self; }

    // Images in the rim of a periodic box, whose number changes as points move.
    void fit_count(const ConstArrayView& sources) {
        if (sources.shape[0] == problem_.sources) return;
        problem_.sources = sources.shape[0];
        shape_ = gpu_fmm_shape(problem_, options_, cost_table_in_use().table, shape_.order.order);
    }

    // What cells cost depends on their width beside ε.
    void fit_shape(const std::array<Extent, 3>& ranges) {
        softening_in_sides_ = softening() / longest_side(ranges);
        if (softening_in_sides_ > 0.0)
            shape_ = gpu_fmm_shape(problem_, options_, cost_table_in_use().table, shape_.order.order,
                                   softening_in_sides_);
        cube_ = cube_around(ranges, shape_.tree.steps);
    }

    /// Calls first() and other(gpu) for each of the others, each with its GPU current, side by side or in
    /// turn.
    template <class First, class Other>
    void on_gpus(const First& first, const Other& other) {
        const auto with_device = [&](int k) {
            if (k == 0) {
                const DeviceScope scope(device_);
                return first();
            }
            auto& gpu = *others_[static_cast<std::size_t>(k - 1)];
            const DeviceScope scope(gpu.device);
            other(gpu);
        };
        if (crew_) return crew_->run(with_device);
        // the others first: the first GPU is the one that others are waited for on
        for (int k = static_cast<int>(devices_.size()) - 1; k >= 0; --k) with_device(k);
    }

    void prepare() {
        shape_ = comm::from_rank(ranks_, shape_); // hosts may have cost tables of their own
        const FmmTask task{.sources = sources_.data(),
                           .targets = problem_.self ? nullptr : targets_.data(),
                           .n = static_cast<int>(problem_.sources),
                           .m = static_cast<int>(problem_.targets),
                           .frame = frame_,
                           .cube = cube_,
                           .shape = shape_,
                           .softening = softening(),
                           .mends = problem_.precision == Precision::mixed && !shape_.order.rounded,
                           .shares_multipoles = shares_multipoles(),
                           .threads = thread_count(options_.threads)};
        if (!others_.empty()) arrays_read_.record(stream_);
        on_gpus([&] { own_.prepare(task, stream_); },
                [&](OtherGpu& gpu) {
                    arrays_read_.hold(gpu.stream.get());
                    auto copies = task;
                    copies.sources =
                        gpu.copied(gpu.sources, task.sources, 3 * static_cast<std::size_t>(task.n));
                    copies.targets =
                        gpu.copied(gpu.targets, task.targets, 3 * static_cast<std::size_t>(task.m));
                    gpu.part.prepare(copies, gpu.stream.get());
                });
        near_pairs_ = own_.tree().near_pairs();
        gives_far_field_ = own_.has_far_field();
        for (const auto& gpu : others_) {
            near_pairs_ += gpu->part.tree().near_pairs();
            gives_far_field_ = gives_far_field_ || gpu->part.has_far_field();
        }
        gives_far_field_ = comm::any_rank(ranks_, gives_far_field_);
        own_.set_gives_far_field(gives_far_field_);
        for (const auto& gpu : others_) gpu->part.set_gives_far_field(gives_far_field_);
        if (ranks_ == nullptr) return;
        rank_rows_->set_count(own_.tree().own_targets().size());
        const auto of_ranks = comm::all_values(*ranks_, near_pairs_);
        near_pairs_ = std::accumulate(of_ranks.begin(), of_ranks.end(), std::int64_t{0});
    }

    void describe(SumReport& report) const override {
        report.device = {.kind = DeviceKind::cuda, .gpus = devices_};
        const auto& order = shape_.order;
        const auto& tree = own_.tree();
        report.fmm = {.order = order.order,
                      .m2l = order.rounded ? M2L::matrix : order.m2l, // on tensor cores
                      .separation = order.separation,
                      .coarse = shape_.tree.coarse,
                      .levels = tree.levels(),
                      .cells = tree.cells(),
                      .leaves = tree.leaf_count(),
                      .near_pairs = near_pairs_,
                      .multiply_adds = own_.multiply_adds()};
    }

    /// Every GPU begins; shares of one tree exchange multipoles; all go on, and the others send their sums.
    void run_parts(int wanted, int exponent) {
        const GivenSources given{sources_.data(), strengths_.data(), has_dipoles_ ? dipoles_.data() : nullptr,
                                 frame_, exponent};
        const auto n = static_cast<std::size_t>(problem_.sources);
        if (!others_.empty()) arrays_read_.record(stream_);
        on_gpus([&] { own_.form(given, wanted, stream_); },
                [&](OtherGpu& gpu) {
                    arrays_read_.hold(gpu.stream.get());
                    auto copies = given;
                    copies.points = gpu.sources.data();
                    copies.strengths = gpu.copied(gpu.strengths, given.strengths, n);
                    copies.dipoles = gpu.copied(gpu.dipoles, given.dipoles, 3 * n);
                    gpu.part.form(copies, wanted, gpu.stream.get());
                });
        on_gpus(
            [&] {
                take_multipoles(own_);
                own_.finish(wanted, stream_);
                if (!problem_.self) return;
                arrays_set_.record(stream_);
                arrays_set_.hold(side_stream_.get());
                own_.find_sources(side_stream_.get());
                sources_found_.record(side_stream_.get());
            },
            [&](OtherGpu& gpu) {
                take_multipoles(gpu.part);
                gpu.part.finish(wanted, gpu.stream.get());
                own_.take(gpu.part, wanted, gpu.early.get(), gpu.stream.get());
                gpu.done.record(gpu.stream.get());
            });
        if (problem_.self) sources_found_.hold(stream_);
        if (ranks_ == nullptr) return;
        own_.timer().begin(stream_);
        rank_rows_->gather(own_.sums_of(wanted), stream_);
        own_.timer().mark("other ranks", stream_);
    }

    void take_multipoles(FmmPart& to) {
        if (!shares_multipoles()) return;
        if (&to != &own_) to.take_multipoles(own_);
        for (const auto& gpu : others_)
            if (&to != &gpu->part) to.take_multipoles(gpu->part);
    }

    bool compute(int wanted, int exponent, SumReport& report) override {
        run_parts(wanted, exponent);
        return own_.with_sums([&](auto& sums) { return leave(sums, wanted, exponent, report); });
    }

    template <class Real>
    bool leave(FmmPart::Sums<Real>& sums, int wanted, int exponent, SumReport& report) {
        auto& timer = own_.timer();
        timer.begin(stream_);
        LeaveTask<Real> task{sums.near.data(),
                             gives_far_field_ && (wanted & field_and_potential) != 0 ? own_.far() : nullptr,
                             own_.tree().targets().where.data(),
                             finish_task(exponent),
                             own_.near_hessians(),
                             gives_far_field_ ? own_.far_hessians() : nullptr,
                             hessians_at_,
                             hessians_at_ == nullptr ? 0
                                                     : problem_.kernel->result_exponent(
                                                           Output::hessian, frame_.exponent, exponent)};
        if (!others_.empty()) { // while theirs are on their way
            const auto own = own_.tree().own_targets();
            task.rows = {own.begin, own.end, true};
            launch_over(problem_.targets, stream_, leave_kernel<Real>, task);
            task.rows.inside = false;
            timer.mark("results", stream_);
            for (const auto& gpu : others_) gpu->done.hold(stream_);
            timer.mark("other GPUs", stream_);
        }
        launch_over(problem_.targets, stream_, leave_kernel<Real>, task);
        timer.mark("results", stream_);
        const bool finite = all_finite();
        report.fmm.tree_seconds = own_.tree_timer().total();
        report.compute_seconds += timer.total();
        for (auto& pass : timer.seconds()) report.passes.push_back(std::move(pass));
        return finite;
    }

    std::vector<int> devices_;
    FmmShape shape_;
    double softening_in_sides_ = 0.0; ///< of the cube around all points
    TreeCube cube_;
    OrderSearch orders_;
    comm::Transport* ranks_;                ///< null: there is one alone
    std::optional<RankRows> rank_rows_;     ///< of ranks
    FmmPart own_;                           ///< of the first GPU
    std::int64_t near_pairs_ = 0;           ///< of all parts
    bool gives_far_field_ = false;          ///< any part
    Stream side_stream_ = Stream::urgent(); ///< what results need beside sums
    Signal arrays_read_, arrays_set_, sources_found_;
    std::vector<std::unique_ptr<OtherGpu>> others_;
    std::unique_ptr<Crew> crew_; ///< a thread for each GPU
};

} // namespace

std::unique_ptr<PreparedSum> make_gpu_fmm(const SumProblem& problem, const SumOptions& options,
                                          const std::vector<int>& devices) {
    const DeviceScope scope(devices.front()); // events are of the GPU that is current when they are made
    return std::make_unique<FmmOnGpu>(problem, options, devices);
}

} // namespace farfield::cuda
