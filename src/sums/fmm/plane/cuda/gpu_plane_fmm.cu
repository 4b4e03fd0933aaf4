// As gpu_fmm.cu in the plane, of one GPU or of ranks with one each. All of these have all points and form all
// multipoles; each computes a share of the targets, and sends their sums to all.
#include "sums/fmm/plane/gpu_plane_fmm.h"

#include "backend/comm/agree.h"
#include "sums/costs/cost_file.h"
#include "sums/direct/cuda/blocks/device_plan.cuh"
#include "sums/direct/cuda/blocks/plane_pairs.cuh"
#include "sums/direct/cuda/pass_timer.cuh"
#include "sums/direct/cuda/several/rank_rows.cuh"
#include "sums/direct/cuda/whole_rows_sum.cuh"
#include "sums/direct/plane/plane_results.h"
#include "sums/fmm/common/order_search.h"
#include "sums/fmm/plane/cuda/plane_far.cuh"
#include "sums/fmm/plane/cuda/plane_results.cuh"
#include "sums/fmm/plane/gpu_plane_shape.h"
#include "sums/points/plane.h"
#include "sums/tree/cuda/leaf_points.cuh"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>

namespace farfield::cuda {
namespace {

/// Points of the leaves as the near field takes them, in numbers of one type.
template <class Real>
struct NearPoints {
    OneSidedDevicePlan plan;
    DeviceArray<Vec4<Real>> sources, targets, sums;
};

TreeShare share_of(const comm::Transport* ranks) {
    return ranks != nullptr ? TreeShare{ranks->rank(), ranks->size()} : TreeShare{};
}

/// What the shares of a tree have to know of each other.
struct PlaneTreeFacts {
    std::int64_t near_pairs = 0;
    int largest_leaf = 0;
    PlaneLists lists;
};

class PlaneFmmOnGpu : public WholeRowsSum {
public:
    PlaneFmmOnGpu(const SumProblem& problem, const SumOptions& options, int device)
        : WholeRowsSum(problem, options, device),
          shape_(gpu_plane_shape(problem, options, cost_table_in_use().table)),
          ranks_(CommunicatorAccess::transport(options.communicator)),
          tree_(2, false, true, share_of(ranks_)) { // its sources are set with their strengths
        if (ranks_ != nullptr) rank_rows_.emplace(*ranks_, options.exchange, options.mpi_gpu);
        far_stream_ = Stream::urgent();
        side_stream_ = Stream::urgent();
        totals_ = DeviceArray<PlaneNumber>(total_parts);
    }

    void set_points(const ConstArrayView& sources, const ConstArrayView& targets) override {
        const DeviceScope scope(device_);
        stream_ = stream_for(sources, targets);
        std::array<Extent, 3> ranges{};
        comm::together(ranks_, [&] { ranges = take_rows(sources, targets); });
        ranges[2] = {0.0, 0.0};
        const bool any = problem_.sources + problem_.targets > 0;
        frame_ = any ? choose_plane_frame(ranges, problem_.sigma) : Frame{};
        if (any) {
            const auto there = framed(ranges, frame_);
            cube_ = cube_around(there, shape_.tree.steps);
            side_ = longest_side(there);
        }
        sigma_ = std::ldexp(problem_.sigma, frame_.exponent);
        orders_ = {};
        fit_shape(shape_.order.order);
        prepare();
    }

    void execute(const ConstArrayView& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                 SumReport& report) override {
        const auto begin = Clock::now();
        const DeviceScope scope(device_);
        stop_if_asked(hooks);
        const int columns = problem_.kernel->strength.columns;
        comm::together(ranks_, [&] {
            begin_execution(outputs, strengths);
            read_strengths(strengths);
            potentials_at_ =
                outputs.potential ? place_of_pairs(outputs.potential, potential_, columns) : nullptr;
            fields_at_ = outputs.field ? place_of_pairs(outputs.field, field_, 2) : nullptr;
        });
        describe(report);
        const auto read_at = Clock::now();
        report.prepare_seconds = seconds_between(begin, read_at);
        if (potentials_at_ == nullptr && fields_at_ == nullptr) return;
        const bool finite = is_wide() ? compute(wide_, report) : compute(narrow_, report);
        if (!finite) report.direct.coincident_pairs_skipped = repair();
        if (potentials_at_ != nullptr && potentials_at_ == potential_.data())
            transfers_.write(potentials_at_, outputs.potential, rows(), columns, stream_);
        if (fields_at_ != nullptr && fields_at_ == field_.data())
            transfers_.write(fields_at_, outputs.field, rows(), 2, stream_);
        report.finish_seconds = seconds_between(read_at, Clock::now()) - report.compute_seconds;
        if (hooks.progress) hooks.progress(1.0);
    }

    bool refine(double found) override {
        const double error = comm::from_rank(ranks_, found);
        if (options_.order > 0 || far_.is_empty() || shape_.order.order >= most_plane_order) return false;
        const auto beyond = orders_.beyond(error, problem_.tolerance);
        if (!beyond) return false;
        const DeviceScope scope(device_);
        fit_shape(plane_order_after(shape_.order.order + *beyond, shape_.order.separation, error,
                                    problem_.tolerance));
        prepare();
        return true;
    }

private:
    [[nodiscard]] bool is_wide() const { return options_.precision == Precision::float64; }

    // Cores reach over cells that are narrow beside them.
    void fit_shape(int order) {
        const double reach = sigma_ > 0.0 ? sigma_ * core_reach(order, shape_.order.separation) / side_ : 0.0;
        // hosts may have cost tables of their own
        shape_ = comm::from_rank(
            ranks_, gpu_plane_shape(problem_, options_, cost_table_in_use().table, order, reach));
    }

    void prepare() {
        comm::together(ranks_, [&] {
            tree_timer_.restart(stream_);
            tree_.build(source_points_, static_cast<int>(problem_.sources),
                        problem_.self ? nullptr : target_points_, static_cast<int>(problem_.targets), frame_,
                        cube_, shape_.tree, shape_.few, stream_);
        });
        facts_ = facts_of_all({tree_.near_pairs(), tree_.largest_leaf(), lists_of(tree_)});
        comm::together(ranks_, [&] {
            const LeafGrid finest{shape_.tree.coarse, tree_.levels() - 1, 2};
            far_.clear();
            if (finest.has_far_cells(shape_.order.separation))
                far_.prepare(tree_, facts_.lists, shape_.order, stream_);
            if (is_wide())
                prepare_near(wide_);
            else
                prepare_near(narrow_);
            if (is_wide())
                wide_.plan.finish(stream_);
            else
                narrow_.plan.finish(stream_);
            tree_timer_.mark("tree", stream_);
        });
        if (ranks_ != nullptr) rank_rows_->set_count(tree_.own_targets().size());
    }

    [[nodiscard]] PlaneTreeFacts facts_of_all(const PlaneTreeFacts& own) const {
        if (ranks_ == nullptr) return own;
        PlaneTreeFacts all;
        for (const auto& facts : comm::all_values(*ranks_, own)) {
            all.near_pairs += facts.near_pairs;
            all.largest_leaf = std::max(all.largest_leaf, facts.largest_leaf);
            all.lists.points = all.lists.points || facts.lists.points;
            all.lists.multipoles = all.lists.multipoles || facts.lists.multipoles;
        }
        return all;
    }

    template <class Real>
    void prepare_near(NearPoints<Real>& near) {
        const auto leaves = static_cast<std::size_t>(tree_.leaf_count());
        const auto centre = [&](const DevicePoints& points, bool of_targets, Vec4<Real>* out,
                                DeviceArray<Vec4<double>>& centres, DeviceArray<BlockRange>& ranges) {
            make_room(centres, leaves, leaves / 4);
            make_room(ranges, leaves, leaves / 4);
            centre_points(CentreTask<Real>{tree_.view(), points.at.data(), tree_.leaves(), tree_.leaf_count(),
                                           of_targets, out, centres.data(), ranges.data()},
                          stream_);
        };
        make_room(near.sources, static_cast<std::size_t>(problem_.sources));
        centre(tree_.sources(), false, nullptr, centres_,
               source_ranges_); // sources come with their strengths
        if (!problem_.self) {
            make_room(near.targets, static_cast<std::size_t>(problem_.targets));
            centre(tree_.targets(), true, near.targets.data(), target_centres_, target_ranges_);
        } else if (tree_.is_share()) {
            centre(tree_.targets(), true, nullptr, target_centres_, target_ranges_);
        }
        const bool points = sizeof(Real) == 4 && !(sigma_ > 0.0);
        const auto shape = points ? plane_points_shape : plane_block_shape(sizeof(Real));
        const int largest = facts_.largest_leaf;
        if (points && largest <= shape.capacity())
            near.plan.use_blocks(tree_.leaf_count(), shape);
        else if (largest <= 2 * shape.capacity())
            near.plan.queue_evenly(target_ranges(), tree_.leaf_count(), largest, shape, stream_);
        else
            near.plan.queue(target_ranges(), tree_.leaf_count(), tree_.targets().count, shape, stream_);
        make_room(near.sums, static_cast<std::size_t>(problem_.targets));
    }

    /// Of the leaves, those of the share.
    [[nodiscard]] const BlockRange* target_ranges() const {
        return problem_.self && !tree_.is_share() ? source_ranges_.data() : target_ranges_.data();
    }

    /// `place_of` for a kernel that writes two numbers at a time.
    double* place_of_pairs(const ArrayView& view, DeviceArray<double>& own, int columns) const {
        double* const place = place_of(view, own, columns, rows());
        if (reinterpret_cast<std::uintptr_t>(place) % (2 * sizeof(double)) == 0) return place;
        make_room(own, std::max<std::size_t>(1, static_cast<std::size_t>(rows() * columns)));
        return own.data();
    }

    void read_strengths(const ConstArrayView& view) {
        const int columns = problem_.kernel->strength.columns;
        const auto numbers = static_cast<std::size_t>(columns * problem_.sources);
        make_room(strengths_, std::max<std::size_t>(1, numbers));
        const auto result =
            transfers_.read(view, problem_.sources, columns, strengths_.data(), "strengths", stream_);
        if (result.bad >= 0) refuse_strength("strengths", result.bad / columns, result.bad_value);
        double largest[2] = {0.0, 0.0};
        for (std::size_t k = 0; k < static_cast<std::size_t>(columns) && numbers > 0; ++k)
            largest[k] = std::max(-result.ranges[k].low, result.ranges[k].high);
        is_complex_ = largest[1] > 0.0;
        exponent_ = strength_exponent(std::max(largest[0], largest[1]));
    }

    [[nodiscard]] PlaneSets sets() const {
        if (!is_complex_) return PlaneSets::real;
        return potentials_at_ != nullptr ? PlaneSets::parts : PlaneSets::together;
    }

    void describe(SumReport& report) const {
        report.device = {.kind = DeviceKind::cuda, .gpus = {device_}};
        report.fmm = {.order = shape_.order.order,
                      .m2l = M2L::matrix,
                      .separation = shape_.order.separation,
                      .coarse = shape_.tree.coarse,
                      .levels = tree_.levels(),
                      .cells = tree_.cells(),
                      .leaves = tree_.leaf_count(),
                      .near_pairs = facts_.near_pairs,
                      .multiply_adds = far_.is_empty() ? 0.0 : far_.multiply_adds(tree_, count_of(sets()))};
    }

    /// Nobody but close pairs needs sources in double, and their kernel reads the caller's; that of cores
    /// does not.
    [[nodiscard]] bool mends_from_given() const { return is_narrow_ && !(sigma_ > 0.0); }

    template <class Real>
    void run_near(NearPoints<Real>& near) {
        const bool self = problem_.self;
        BlockTask<Real> task;
        task.targets = self ? near.sources.data() : near.targets.data();
        task.sources = near.sources.data();
        task.target_blocks = target_ranges();
        task.source_blocks = source_ranges_.data();
        task.first = tree_.direct().first;
        task.last = tree_.direct().last;
        task.partners = tree_.direct().partners;
        task.target_centres = self ? centres_.data() : target_centres_.data();
        task.source_centres = centres_.data();
        if (mends_from_given()) task.given = {source_points_, tree_.sources().from.data(), frame_};
        if (!mends_from_given() || !self) task.exact_targets = tree_.targets().at.data();
        if (!mends_from_given()) task.exact_sources = tree_.sources().at.data();
        task.close = plane_close(shape_.order);
        task.own = self;
        task.core2 = sigma_ > 0.0 ? static_cast<Real>(0.5 / (sigma_ * sigma_)) : Real(0);
        task.outputs = potentials_at_ != nullptr ? field_and_potential : field_only;
        task.sums = near.sums.data();
        const auto whose = sigma_ > 0.0  ? PlaneSources::cores
                           : is_complex_ ? PlaneSources::complex
                                         : PlaneSources::real;
        launch_plane_blocks(task, near.plan.view(), whose, stream_);
    }

    /// What whoever writes results needs of the sources.
    void prepare_results(cudaStream_t stream) {
        if (problem_.self) tree_.find_sources(stream);
        if (potentials_at_ != nullptr)
            add_up_strengths(strengths_.data(), problem_.kernel->strength.columns,
                             static_cast<int>(problem_.sources), exponent_, totals_.data(), stream);
    }

    template <class Real>
    [[nodiscard]] PlaneFar::Points far_points(const NearPoints<Real>& near) {
        const auto targets = static_cast<std::size_t>(problem_.targets);
        if constexpr (sizeof(Real) == 4)
            if (is_narrow_) {
                make_room(narrow_far_sums_, targets);
                return {nullptr, near.sources.data(),
                        problem_.self ? near.sources.data() : near.targets.data(), narrow_far_sums_.data()};
            }
        make_room(far_sums_, targets);
        return {far_sums_.data()};
    }

    /// The near field, and the far field beside it.
    template <class Real>
    void run_passes(NearPoints<Real>& near, PassTimer& timer) {
        if (far_.is_empty()) {
            run_near(near);
            prepare_results(stream_);
            return timer.mark("P2P", stream_);
        }
        const auto there = far_stream_->get(), beside = side_stream_->get();
        ready_.record(stream_);
        ready_.hold(there);
        ready_.hold(beside);
        timer.begin(there);
        try {
            run_near(near); // one launch, whose blocks make room for urgent ones
            timer.mark("P2P", stream_);
            prepare_results(beside);
            results_prepared_.record(beside);
            far_.run(
                tree_, sets(), far_points(near),
                [&](std::string_view name, cudaStream_t stream) { timer.mark(name, stream); }, there);
            far_done_.record(there);
        } catch (...) { // what is worked on may be given up now
            for (const auto stream : {there, beside, stream_}) cudaStreamSynchronize(stream);
            throw;
        }
        far_done_.hold(stream_);
        results_prepared_.hold(stream_);
    }

    template <class Real>
    [[nodiscard]] PlaneResultTask<Real> results_of(const NearPoints<Real>& near) {
        return {.near = near.sums.data(),
                .far = far_.is_empty() || is_narrow_ ? nullptr : far_sums_.data(),
                .narrow_far = is_narrow_ ? narrow_far_sums_.data() : nullptr,
                .where = tree_.targets().where.data() + first_row(),
                .count = static_cast<int>(rows()),
                .strengths = problem_.self
                                 ? strengths_.data() + problem_.kernel->strength.columns * first_row()
                                 : nullptr,
                .columns = problem_.kernel->strength.columns,
                .total = totals_.data(),
                .shift = frame_.exponent * std::numbers::ln2,
                .turned = problem_.kernel->field_is_turned,
                .sign = problem_.kernel->sign,
                .strength_exponent = exponent_,
                .field_exponent = frame_.exponent - exponent_,
                .potential = potentials_at_,
                .field = fields_at_,
                .not_finite = not_finite_.data()};
    }

    /// Results at `potentials_at_` and `fields_at_`. False where one is not finite.
    template <class Real>
    bool compute(NearPoints<Real>& near, SumReport& report) {
        if (problem_.targets == 0) return true;
        is_narrow_ = !is_wide() && !far_.is_empty() && far_.is_narrow(sets());
        auto& timer = pass_timer_;
        comm::together(ranks_, [&] {
            timer.restart(stream_);
            check(cudaMemsetAsync(not_finite_.data(), 0, sizeof(int), stream_), "clearing a flag");
            set_plane_sources(PlaneSourceTask{source_points_, strengths_.data(),
                                              problem_.kernel->strength.columns, exponent_, frame_,
                                              tree_.view(), tree_.leaves(), tree_.leaf_count(),
                                              tree_.sources().from.data(),
                                              mends_from_given() ? nullptr : tree_.weighted_sources()},
                              near.sources.data(), stream_);
            timer.mark("sources", stream_);
            run_passes(near, timer);
        });
        timer.begin(stream_);
        if (ranks_ != nullptr) {
            rank_rows_->gather(sums_of(near), stream_);
            timer.mark("other ranks", stream_);
        }
        write_plane_sums(results_of(near), stream_);
        timer.mark("results", stream_);
        int flag = 0;
        copy(&flag, not_finite_.data(), 1, stream_);
        check(cudaStreamSynchronize(stream_), "waiting for the GPU");
        report.fmm.tree_seconds = tree_timer_.total();
        report.compute_seconds += timer.total();
        for (auto& pass : timer.seconds()) report.passes.push_back(std::move(pass));
        return flag == 0;
    }

    template <class Real>
    [[nodiscard]] std::vector<RowArray> sums_of(NearPoints<Real>& near) {
        std::vector<RowArray> out{row_array(near.sums)};
        if (!far_.is_empty()) out.push_back(is_narrow_ ? row_array(narrow_far_sums_) : row_array(far_sums_));
        return out;
    }
    template <class T>
    [[nodiscard]] static RowArray row_array(DeviceArray<T>& array) {
        return {reinterpret_cast<std::byte*>(array.data()), sizeof(T)};
    }

    // Rows that are not finite, on the host. Those of other ranks are 0, and left alone.
    std::int64_t repair() {
        const auto numbers = [](std::int64_t count, int columns) {
            return static_cast<std::size_t>(count) * static_cast<std::size_t>(columns);
        };
        const int columns = problem_.kernel->strength.columns;
        const auto q = downloaded(strengths_, numbers(problem_.sources, columns), stream_);
        const auto from = downloaded(source_points_, numbers(problem_.sources, 2), stream_);
        const auto to =
            problem_.self ? from : downloaded(target_points_, numbers(problem_.targets, 2), stream_);
        const auto fetched = [&](const double* values, int width) {
            std::vector<double> out(values == nullptr ? 0 : numbers(problem_.targets, width));
            if (values == nullptr) return out;
            copy(out.data() + numbers(first_row(), width), values, numbers(rows(), width), stream_);
            check(cudaStreamSynchronize(stream_), "waiting for the GPU");
            return out;
        };
        auto phi = fetched(potentials_at_, columns);
        auto e = fetched(fields_at_, 2);
        const auto skipped = repair_plane_rows(
            problem_, {.sources = from.data(), .strengths = q.data(), .targets = to.data()},
            {.potential = phi.empty() ? nullptr : phi.data(), .field = e.empty() ? nullptr : e.data()},
            thread_count(options_.threads));
        const auto back = [&](double* to, const std::vector<double>& all, int width) {
            if (to != nullptr)
                copy(to, all.data() + numbers(first_row(), width), numbers(rows(), width), stream_);
        };
        back(potentials_at_, phi, columns);
        back(fields_at_, e, 2);
        check(cudaStreamSynchronize(stream_), "waiting for the GPU");
        return skipped;
    }

    PlaneShape shape_;
    Frame frame_;
    TreeCube cube_;
    double side_ = 1.0;                 ///< of a square around all points, in the frame
    double sigma_ = 0.0;                ///< in the frame
    comm::Transport* ranks_;            ///< null: there is one alone
    std::optional<RankRows> rank_rows_; ///< of ranks
    DeviceTree tree_;
    PlaneTreeFacts facts_;
    PlaneFar far_;
    /// Many short launches, which go before the near field's blocks; what results need beside sums.
    std::optional<Stream> far_stream_, side_stream_;
    Signal ready_, far_done_, results_prepared_;
    NearPoints<float> narrow_;
    NearPoints<double> wide_;
    DeviceArray<Vec4<double>> centres_, target_centres_, far_sums_;
    DeviceArray<Vec4<float>> narrow_far_sums_;
    DeviceArray<BlockRange> source_ranges_, target_ranges_;
    DeviceArray<PlaneNumber> totals_;
    PassTimer tree_timer_, pass_timer_;
    OrderSearch orders_;
    DeviceArray<double> strengths_;         ///< as the caller gave them, in double
    bool is_narrow_ = false;                ///< sources and sums are floats in the far field, too
    int exponent_ = 0;                      ///< of the strengths, as a power of two
    bool is_complex_ = false;               ///< some imaginary part is not 0
    DeviceArray<double> potential_, field_; ///< where the caller's arrays are elsewhere, or strided
    double *potentials_at_ = nullptr, *fields_at_ = nullptr;
};

} // namespace

std::unique_ptr<PreparedSum> make_gpu_plane_fmm(const SumProblem& problem, const SumOptions& options,
                                                int device) {
    const DeviceScope scope(device); // events are of the GPU that is current when they are made
    return std::make_unique<PlaneFmmOnGpu>(problem, options, device);
}

} // namespace farfield::cuda
