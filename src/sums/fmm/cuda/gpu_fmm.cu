// The first GPU has the caller's arrays; others get copies, compute a share of the targets, and send the sums
// of these to the first, where all leave together. Ranks, each with a GPU, have all points anyway, and send
// their sums to all, of which each gives out the rows that it wants.
#include "sums/fmm/gpu_fmm.h"

#include "backend/comm/agree.h"
#include "backend/comm/communicator_access.h"
#include "sums/costs/cost_file.h"
#include "sums/direct/cuda/framed_sum.cuh"
#include "sums/direct/cuda/periodic/points_meet.h"
#include "sums/direct/cuda/several/rank_rows.cuh"
#include "sums/fmm/cuda/fmm_part.cuh"
#include "sums/fmm/cuda/other_gpus.cuh"
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

class FmmOnGpu : public FramedSum {
public:
    /// @param box  of a periodic tree
    FmmOnGpu(const SumProblem& problem, const SumOptions& options, const std::vector<int>& devices,
             const TreeBox& box = {})
        : FramedSum(problem, options, devices.front()), devices_(devices), box_(box),
          shape_(gpu_fmm_shape(problem, options, cost_table_in_use().table)),
          ranks_(options.communicator.size() > 1 ? CommunicatorAccess::transport(options.communicator)
                                                 : nullptr),
          own_(ranks_ != nullptr ? TreeShare{ranks_->rank(), ranks_->size()}
                                 : TreeShare{0, static_cast<int>(devices.size())}),
          others_(devices, options) {
        if (ranks_ == nullptr) return;
        rank_rows_.emplace(*ranks_, options.exchange, options.mpi_gpu);
        rank_multipoles_.emplace(*ranks_, options.exchange, options.mpi_gpu);
    }

    void set_points(const ConstArrayView& sources, const ConstArrayView& targets) override {
        const DeviceScope scope(device_);
        fit_count(sources);
        // while the first GPU looks at them
        const auto stream = stream_for(sources, targets);
        others_.wait_if_refused([&] {
            others_have_points_ =
                others_.send(sources, problem_.sources, 3, &OtherGpu::sources, stream) &&
                (problem_.self || others_.send(targets, problem_.targets, 3, &OtherGpu::targets, stream));
            comm::together(ranks_, [&] {
                if (problem_.is_periodic())
                    take_box(sources, targets);
                else if (const auto ranges = take_points(sources, targets))
                    fit_shape(*ranges);
            });
            orders_ = {};
            prepare();
        });
    }

    void execute_with_dipoles(const ConstArrayView& strengths, const ConstArrayView& dipoles,
                              const SumOutputs& outputs, const SumHooks& hooks, SumReport& report) override {
        const DeviceScope scope(device_);
        const auto stream = stream_for(strengths, dipoles, outputs.potential, outputs.field, outputs.hessian);
        others_.wait_if_refused([&] {
            others_have_strengths_ =
                (outputs.potential || outputs.field || outputs.hessian) &&
                others_.send(strengths, problem_.sources, 1, &OtherGpu::strengths, stream);
            FramedSum::execute_with_dipoles(strengths, dipoles, outputs, hooks, report);
        });
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
    [[nodiscard]] bool shares_multipoles() const { return !others_.empty() || exchanges_early(); }

    // Ranks exchange multipoles, and the far field while the near field is still summed, rather than both
    // fields at the end: two exchanges more, of some 30 µs that do not shrink with the sum.
    [[nodiscard]] bool exchanges_early() const {
        constexpr double least_terms = 2e8; // that P2M adds up, in about 0.2 ms
        return ranks_ != nullptr &&
               static_cast<double>(problem_.sources) * std::pow(shape_.order.order + 1, 2) >= least_terms;
    }

    // Images in the rim of a periodic box, whose number changes as points move.
    void fit_count(const ConstArrayView& sources) {
        if (sources.shape[0] == problem_.sources) return;
        problem_.sources = sources.shape[0];
        shape_ = gpu_fmm_shape(problem_, options_, cost_table_in_use().table, shape_.order.order);
        softening_in_sides_ = 0.0;
    }

    // What cells cost depends on their width beside ε. That of a tree grows in steps: while points move
    // within one, nothing changes.
    void fit_shape(const std::array<Extent, 3>& ranges) {
        const auto side = cube_around(ranges, true).side;
        const double before = std::exchange(softening_in_sides_, softening() / side);
        if (softening_in_sides_ > 0.0 && softening_in_sides_ != before)
            shape_ = gpu_fmm_shape(problem_, options_, cost_table_in_use().table, shape_.order.order,
                                   softening_in_sides_);
        cube_ = cube_around(ranges, shape_.tree.steps);
    }

    // The same however points lie in it.
    void take_box(const ConstArrayView& sources, const ConstArrayView& targets) {
        std::array<Extent, 3> box;
        for (std::size_t k = 0; k < 3; ++k) box[k] = {box_.low, box_.low + problem_.period[k]};
        take_points(sources, targets, &box);
        cube_.side = std::ldexp(problem_.period[0], frame_.exponent);
        for (std::size_t k = 0; k < 3; ++k)
            cube_.low[k] = std::ldexp(box_.low - frame_.origin[k], frame_.exponent);
    }

    void prepare() {
        if (problem_.is_periodic()) {
            shape_.tree.period = cube_.side;
            shape_.tree.low = cube_.low[0];
        }
        shape_ = comm::from_rank(ranks_, shape_); // hosts may have cost tables of their own
        const FmmTask task{.sources = source_points_,
                           .targets = problem_.self ? nullptr : target_points_,
                           .n = static_cast<int>(problem_.sources),
                           .m = static_cast<int>(problem_.targets),
                           .frame = frame_,
                           .cube = cube_,
                           .shape = shape_,
                           .softening = softening(),
                           .with_far_images = box_.with_far_images,
                           .mends = problem_.precision == Precision::mixed && !shape_.order.rounded,
                           .shares_multipoles = shares_multipoles(),
                           .threads = thread_count(options_.threads)};
        if (!others_.empty()) arrays_read_.record(stream_);
        others_.run_with_first(
            [&] { comm::together(ranks_, [&] { own_.prepare(task, stream_); }); },
            [&](OtherGpu& gpu) {
                arrays_read_.hold(gpu.stream.get());
                if (!others_have_points_) {
                    gpu.copy_to(gpu.sources, task.sources, 3 * static_cast<std::size_t>(task.n));
                    gpu.copy_to(gpu.targets, task.targets, 3 * static_cast<std::size_t>(task.m));
                }
                auto copies = task;
                copies.sources = gpu.sources.data();
                if (!problem_.self) copies.targets = gpu.targets.data();
                gpu.part.prepare(copies, gpu.stream.get());
            });
        others_have_points_ = true;
        near_pairs_ = own_.tree().near_pairs();
        others_.for_each([&](OtherGpu& gpu) { near_pairs_ += gpu.part.tree().near_pairs(); });
        if (ranks_ == nullptr) return;
        rank_rows_->set_count(own_.tree().own_targets().size());
        if (shares_multipoles()) {
            std::vector<RowRange> cells;
            for (const auto& range : own_.tree().own_leaves()) cells.push_back({range.begin, range.end});
            rank_multipoles_->set_ranges(cells);
        }
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

    /// Every GPU begins; then shares of one tree exchange multipoles, all go on, and the others send their
    /// sums.
    void form_parts(int wanted, int exponent) {
        const GivenSources given{source_points_, strengths_.data(), has_dipoles_ ? dipoles_.data() : nullptr,
                                 frame_, exponent};
        const auto n = static_cast<std::size_t>(problem_.sources);
        if (!others_.empty()) arrays_read_.record(stream_);
        others_.run_with_first(
            [&] {
                own_.place(given, stream_);
                if (problem_.self) find_sources();
                own_.form(wanted, stream_);
            },
            [&](OtherGpu& gpu) {
                arrays_read_.hold(gpu.stream.get());
                if (!others_have_strengths_) gpu.copy_to(gpu.strengths, given.strengths, n);
                gpu.copy_to(gpu.dipoles, given.dipoles, has_dipoles_ ? 3 * n : 0);
                auto copies = given;
                copies.points = gpu.sources.data();
                copies.strengths = gpu.strengths.data();
                if (has_dipoles_) copies.dipoles = gpu.dipoles.data();
                gpu.part.place(copies, gpu.stream.get());
                gpu.part.form(wanted, gpu.stream.get());
            });
    }

    void finish_parts(int wanted) {
        others_.run_with_first(
            [&] {
                take_multipoles(own_);
                own_.finish(wanted, stream_);
            },
            [&](OtherGpu& gpu) {
                take_multipoles(gpu.part);
                gpu.part.finish(wanted, gpu.stream.get());
                own_.take(gpu.part, wanted, gpu.early.get(), gpu.stream.get());
                gpu.done.record(gpu.stream.get());
            });
        if (problem_.self) sources_found_.hold(stream_);
    }

    // Beside the passes: results need it.
    void find_sources() {
        arrays_set_.record(stream_);
        arrays_set_.hold(side_stream_.get());
        own_.find_sources(side_stream_.get());
        sources_found_.record(side_stream_.get());
    }

    void multipoles_from_ranks() {
        if (!own_.has_far_field()) return;
        const auto stream = own_.far_stream();
        rank_multipoles_->gather(own_.multipoles(), stream);
        own_.timer().mark("multipoles", stream);
    }

    void sums_from_ranks(int wanted) {
        if (ranks_ == nullptr) return;
        auto sums = own_.far_sums(wanted);
        const bool early = !sums.empty() && exchanges_early();
        if (early) {
            const auto stream = side_stream_.get();
            own_.hold_for_far_field(stream);
            rank_rows_->gather(std::exchange(sums, {}), stream);
            far_taken_.record(stream);
        }
        const auto near = own_.near_sums(wanted);
        sums.insert(sums.end(), near.begin(), near.end());
        own_.timer().begin(stream_);
        rank_rows_->gather(sums, stream_);
        if (early) far_taken_.hold(stream_);
        own_.timer().mark("other ranks", stream_);
    }

    void take_multipoles(FmmPart& to) {
        if (!shares_multipoles() || ranks_ != nullptr) return;
        if (&to != &own_) to.take_multipoles(own_);
        others_.for_each([&](OtherGpu& gpu) {
            if (&to != &gpu.part) to.take_multipoles(gpu.part);
        });
    }

    bool compute(int wanted, int exponent, SumReport& report) override {
        if (ranks_ != nullptr && shares_multipoles()) {
            comm::together(*ranks_, [&] { form_parts(wanted, exponent); });
            multipoles_from_ranks();
            comm::together(*ranks_, [&] { finish_parts(wanted); });
        } else {
            comm::together(ranks_, [&] {
                form_parts(wanted, exponent);
                finish_parts(wanted);
            });
        }
        sums_from_ranks(wanted);
        return own_.with_sums([&](auto& sums) { return leave(sums, wanted, exponent, report); });
    }

    template <class Real>
    bool leave(FmmPart::Sums<Real>& sums, int wanted, int exponent, SumReport& report) {
        auto& timer = own_.timer();
        timer.begin(stream_);
        LeaveTask<Real> task{
            sums.near.data(),
            own_.has_far_field() && (wanted & field_and_potential) != 0 ? own_.far() : nullptr,
            own_.tree().targets().where.data() + first_row(),
            finish_task(exponent),
            own_.near_hessians(),
            own_.has_far_field() ? own_.far_hessians() : nullptr,
            hessians_at_,
            hessians_at_ == nullptr
                ? 0
                : problem_.kernel->result_exponent(Output::hessian, frame_.exponent, exponent)};
        if (!others_.empty()) { // while theirs are on their way
            const auto own = own_.tree().own_targets();
            task.rows = {own.begin, own.end, true};
            launch_over(rows(), stream_, leave_kernel<Real>, task);
            task.rows.inside = false;
            timer.mark("results", stream_);
            others_.for_each([&](const OtherGpu& gpu) { gpu.done.hold(stream_); });
            timer.mark("other GPUs", stream_);
        }
        launch_over(rows(), stream_, leave_kernel<Real>, task);
        timer.mark("results", stream_);
        const bool finite = all_finite();
        report.fmm.tree_seconds = own_.tree_timer().total();
        report.compute_seconds += timer.total();
        for (auto& pass : timer.seconds()) report.passes.push_back(std::move(pass));
        return finite;
    }

    std::int64_t repair(int exponent) override {
        if (problem_.is_periodic()) throw PointsMeet(); // images would have to be left out, too
        return FramedSum::repair(exponent);
    }

    std::vector<int> devices_;
    TreeBox box_;
    FmmShape shape_;
    double softening_in_sides_ = 0.0; ///< of the cube around all points
    TreeCube cube_;
    OrderSearch orders_;
    comm::Transport* ranks_;                              ///< null: there is one alone
    std::optional<RankRows> rank_rows_, rank_multipoles_; ///< of ranks
    FmmPart own_;                                         ///< of the first GPU
    std::int64_t near_pairs_ = 0;                         ///< of all parts
    Stream side_stream_ = Stream::urgent();               ///< what results need beside sums
    Signal arrays_read_, arrays_set_, sources_found_, far_taken_;
    OtherGpus others_;
    bool others_have_points_ = false, others_have_strengths_ = false; ///< those at hand
};

} // namespace

std::unique_ptr<PreparedSum> make_gpu_fmm(const SumProblem& problem, const SumOptions& options,
                                          const std::vector<int>& devices) {
    const DeviceScope scope(devices.front()); // events are of the GPU that is current when they are made
    return std::make_unique<FmmOnGpu>(problem, options, devices);
}

std::unique_ptr<PreparedSum> make_gpu_box_fmm(const SumProblem& problem, const SumOptions& options,
                                              int device, const TreeBox& box) {
    const DeviceScope scope(device);
    return std::make_unique<FmmOnGpu>(problem, options, std::vector{device}, box);
}

} // namespace farfield::cuda
