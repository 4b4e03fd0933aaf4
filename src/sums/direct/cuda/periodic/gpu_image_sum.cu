// As ImageSum (periodic/image_sum.h) on a GPU: the box on itself and the images in its rim by open sums
// there, all images beyond by expansions; or, where a method sums the whole box at once, by that. Ranks with
// a GPU each have all points: the open sums divide themselves and leave all results on all, and expansions
// are evaluated at a share of the targets.
#include "sums/direct/cuda/periodic/gpu_image_sum.h"

#include "backend/comm/agree.h"
#include "sums/direct/cuda/pass_timer.cuh"
#include "sums/direct/cuda/periodic/box_terms.cuh"
#include "sums/direct/cuda/periodic/points_meet.h"
#include "sums/direct/cuda/rungs.h"
#include "sums/direct/cuda/several/shared_rows.cuh"
#include "sums/direct/cuda/several/through_host.cuh"
#include "sums/direct/cuda/whole_rows_sum.cuh"
#include "sums/lattice/images/cuda/device_far_images.cuh"
#include "sums/lattice/images/cuda/device_rim.cuh"
#include "sums/lattice/images/cuda/device_soft_images.cuh"
#include "sums/lattice/images/far_images.h"
#include "sums/lattice/lattice_terms.h"
#include "sums/method/refining.h"

#include <farfield/error.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace farfield::cuda {
namespace {

// The images are no targets: rungs that compute each pair once do not serve them.
SumOptions rim_options_on_gpu(const SumOptions& given, int exponent) {
    auto options = rim_options(given, exponent);
    const auto rung = rung_from_name(name_of(options.variant));
    if (rung && !info_of(*rung).separate_targets) options.variant = Variant::automatic;
    return options;
}

/// Sums of a part of the sources at all targets.
struct PartSums {
    DeviceArray<double> potential, field;

    void make_room_for(const SumOutputs& outputs, std::int64_t m) {
        if (outputs.potential) make_room(potential, static_cast<std::size_t>(m));
        if (outputs.field) make_room(field, 3 * static_cast<std::size_t>(m));
    }
    [[nodiscard]] PartResults results(const SumOutputs& outputs, std::int64_t first) const {
        return {outputs.potential ? potential.data() + first : nullptr,
                outputs.field ? field.data() + 3 * first : nullptr};
    }
};

class ImagesOnGpu : public WholeRowsSum {
public:
    ImagesOnGpu(const SumProblem& problem, const SumOptions& options, int device, OpenSums open)
        : WholeRowsSum(problem, options, device), open_(std::move(open)), frame_(problem),
          shape_(open_.shape), goal_of_whole_(open_.shape.goal),
          ranks_(CommunicatorAccess::transport(options.communicator)) {
        const DeviceScope scope(device_);
        shared_rows_.emplace(ranks_, options);
        if (open_.make_in_box != nullptr) make_whole();
    }

    void set_points(const ConstArrayView& sources, const ConstArrayView& targets) override {
        const DeviceScope scope(device_);
        stream_ = stream_for(sources, targets);
        // all that follows is on our own stream, as the sums of the parts are
        const auto stream = own_stream_->get();
        comm::together(ranks_, [&] {
            ranges_ = take_rows(sources, targets);
            points_there_.record(stream_);
            points_there_.hold(stream);
        });
        by_images_ = whole_ == nullptr;
        if (!by_images_) {
            home_.reset();
            rim_.reset();
        }
        place_points();
    }

    void execute(const ConstArrayView& strength_view, const SumOutputs& outputs, const SumHooks& hooks,
                 SumReport& report) override {
        const auto begin = Clock::now();
        const DeviceScope scope(device_);
        const auto before = report;
        try {
            sum(strength_view, outputs, hooks, report);
        } catch (const PointsMeet&) {
            report = before;
            take_images();
            // of which nothing is compared any more
            for (const double error : refinements_) refine_images(error);
            const double lost = seconds_between(begin, Clock::now());
            sum(strength_view, outputs, hooks, report);
            report.prepare_seconds += lost;
        }
    }

    bool refine(double found) override {
        const DeviceScope scope(device_);
        const double error = comm::from_rank(ranks_, found);
        if (by_images_) return refine_images(error);
        refinements_.push_back(error);
        if (refine_whole(error)) return true;
        // few points, all of which act on each other in open space, but not across faces
        if (error <= problem_.tolerance || options_.order > 0 || options_.precision != Precision::float64)
            return false;
        whole_.reset(); // for good
        take_images();
        return true;
    }

private:
    [[nodiscard]] bool has_pairs() const { return problem_.sources > 0 && problem_.targets > 0; }
    [[nodiscard]] double low() const { return by_images_ ? 0.0 : open_.low * frame_.length[0]; }

    void make_whole() {
        auto problem = home_problem(problem_, frame_.exponent);
        problem.period = frame_.length;
        auto options = open_options(options_, frame_.exponent);
        options.stream = own_stream_->get();
        whole_ = open_.make_in_box(
            problem, options, device_,
            {.low = open_.low * frame_.length[0], .with_far_images = open_.softening != FarSoftening::whole});
    }

    bool refine_whole(double error) {
        const bool tree = whole_->refine(error);
        if (open_.softening == FarSoftening::none) return tree;
        const double before = std::exchange(
            goal_of_whole_, refined_goal(goal_of_whole_, refinement(error, problem_.tolerance)));
        if (goal_of_whole_ == before) return tree;
        if (has_pairs()) comm::together(ranks_, [&] { make_soft_of_whole(); });
        return true;
    }

    /// Until points are set again, if the whole box has a sum.
    void take_images() {
        by_images_ = true;
        shape_ = open_.shape; // as sums of the parts, it is refined anew
        place_points();
    }

    bool refine_images(double error) {
        const bool home = home_->refine(error);
        const bool rim = rim_ && rim_->refine(error);
        const bool far = refine_far(refinement(error, problem_.tolerance));
        if (far && grid_) comm::together(ranks_, [&] { make_far(); });
        return home || rim || far;
    }

    void place_points() {
        placed_ = false;
        const auto stream = own_stream_->get();
        comm::together(ranks_, [&] {
            wrap(source_points_, problem_.sources, sources_, stream);
            if (!problem_.self) wrap(target_points_, problem_.targets, targets_, stream);
        });
        if (by_images_ && !home_)
            home_ =
                make_open(home_problem(problem_, frame_.exponent), open_options(options_, frame_.exponent));
        if (has_pairs()) place_in_sums();
        placed_ = true;
    }

    void place_in_sums() {
        const auto stream = own_stream_->get();
        (by_images_ ? home_ : whole_)
            ->set_points(view_of(sources_.data(), problem_.sources),
                         problem_.self ? ConstArrayView{} : view_of(targets_.data(), problem_.targets));
        if (!by_images_ && open_.softening == FarSoftening::none) return;
        shared_rows_->divide(problem_.targets, {first_row(), first_row() + rows()});
        if (!by_images_) return comm::together(ranks_, [&] { make_soft_of_whole(); });
        choose_grid();
        comm::together(ranks_, [&] {
            make_far();
            rim_points_.select(GridView(*grid_), sources_.data(), problem_.sources, stream);
        });
        make_rim();
    }

    void sum(const ConstArrayView& strength_view, const SumOutputs& outputs, const SumHooks& hooks,
             SumReport& report) {
        const auto begin = Clock::now();
        stop_if_asked(hooks);
        if (!placed_) place_points(); // which failed before
        report.device = {.kind = DeviceKind::cuda, .gpus = {device_}};
        BoxMoments moments;
        double *potential = nullptr, *field = nullptr;
        comm::together(ranks_, [&] {
            begin_execution(outputs, strength_view);
            read_strengths(strength_view);
            moments = moment_sums_.compute({sources_.data(), source_points_, problem_.sources},
                                           strengths_.data(), middle(), frame_.scale(), own_stream_->get());
            require_neutral(problem_, {moments.total, moments.magnitude});
            if (outputs.potential) potential = place_of(outputs.potential, potential_, 1, rows());
            if (outputs.field) field = place_of(outputs.field, field_, 3, rows());
            if (!has_pairs()) return;
            // what may fail for want of memory does so before ranks wait for each other
            of_home_.make_room_for(outputs, problem_.targets);
            if (has_far()) make_room(of_far_, static_cast<std::size_t>(problem_.targets));
            if (!by_images_) return;
            rim_points_.take_strengths(strengths_.data(), own_stream_->get());
            of_rim_.make_room_for(outputs, problem_.targets);
        });
        const double prepare_seconds = seconds_between(begin, Clock::now());
        if (!outputs.potential && !outputs.field) return;
        if (has_pairs() && !by_images_)
            compute_whole(outputs, hooks, moments, potential, field, report);
        else if (has_pairs())
            compute(outputs, hooks, moments, potential, field, report);
        else
            clear(potential, field);
        comm::together(ranks_, [&] {
            if (potential != nullptr && potential == potential_.data())
                transfers_.write(potential, outputs.potential, rows(), 1, stream_);
            if (field != nullptr && field == field_.data())
                transfers_.write(field, outputs.field, rows(), 3, stream_);
        });
        report.prepare_seconds += prepare_seconds;
        report.finish_seconds = std::max(0.0, seconds_between(begin, Clock::now()) - report.prepare_seconds -
                                                  report.compute_seconds);
        if (hooks.progress) hooks.progress(1.0);
    }

    [[nodiscard]] std::unique_ptr<PreparedSum> make_open(const SumProblem& problem,
                                                         SumOptions options) const {
        const auto stream = own_stream_->get();
        const bool through_host = ranks_ != nullptr && open_.takes_host_arrays;
        options.stream = through_host ? nullptr : stream;
        auto sum = open_.make(problem, options, device_);
        return through_host ? make_through_host(std::move(sum), *ranks_, stream) : std::move(sum);
    }
    [[nodiscard]] ConstArrayView view_of(const double* values, std::int64_t rows, int columns = 3) const {
        return {values, DType::float64, {rows, columns}, {DeviceType::cuda, device_}};
    }
    [[nodiscard]] const double* targets() const { return problem_.self ? sources_.data() : targets_.data(); }
    [[nodiscard]] const double* given_targets() const {
        return problem_.self ? source_points_ : target_points_;
    }

    void wrap(const double* given, std::int64_t n, DeviceArray<double>& in_box, cudaStream_t stream) const {
        make_room(in_box, std::max<std::size_t>(1, 3 * static_cast<std::size_t>(n)));
        wrap_points(given, n, frame_.length, low(), frame_.exponent, in_box.data(), stream);
    }

    /// Of sums by images.
    [[nodiscard]] bool is_soft() const { return softens_far_images(problem_, open_.shape.goal); }
    /// Images act through expansions here, and not in `whole_` alone.
    [[nodiscard]] bool has_far() const { return by_images_ || open_.softening != FarSoftening::none; }
    /// Which lack the quadratic function of tin foil.
    [[nodiscard]] bool are_harmonics() const {
        return by_images_ ? !is_soft() : open_.softening != FarSoftening::whole;
    }

    /// Whether far images can leave errors so many times smaller.
    bool refine_far(double factor) {
        if (is_soft()) {
            const double before = std::exchange(shape_.goal, refined_goal(shape_.goal, factor));
            return shape_.goal < before;
        }
        const int more = more_image_orders(factor, shape_.separation);
        const int before = std::exchange(shape_.order, std::min(most_image_order, shape_.order + more));
        return shape_.order != before;
    }

    // Points that move a little keep it. Hosts may have cost tables of their own.
    void choose_grid() {
        Lengths low{}, high{};
        for (std::size_t k = 0; k < 3; ++k) {
            low[k] = std::ldexp(ranges_[k].low, frame_.exponent);
            high[k] = std::ldexp(ranges_[k].high, frame_.exponent);
        }
        const auto extent = rounded_extent(frame_.length, low, high);
        if (grid_ && extent == extent_ && shape_.order == order_of_grid_) return;
        comm::together(ranks_, [&] {
            grid_ = choose_gpu_image_grid(problem_, frame_.length, extent, shape_, frame_.exponent,
                                          open_.seconds);
        });
        grid_ = comm::from_rank(ranks_, *grid_);
        extent_ = extent;
        order_of_grid_ = shape_.order;
    }

    // The grid stays while the order rises, as the images of the rim do.
    void make_far() {
        if (is_soft()) return make_soft(*grid_, SoftKernel{frame_.softening}, shape_.goal);
        const auto stream = own_stream_->get();
        far_.set_operator(*grid_, shape_.order, thread_count(options_.threads), stream);
        far_.set_points(sources_.data(), problem_.sources, own_targets(), shared_rows_->computed().size(),
                        stream);
    }

    void make_soft(const ImageGrid& grid, const SoftKernel& kernel, double goal) {
        const auto stream = own_stream_->get();
        soft_.set_operator(grid, kernel, soft_goal(problem_, goal, frame_.exponent),
                           thread_count(options_.threads), stream);
        soft_.set_points(sources_.data(), problem_.sources, own_targets(), shared_rows_->computed().size(),
                         stream);
    }
    void make_soft_of_whole() {
        make_soft(soft_tree_grid(frame_.length, low(), open_.shape.separation),
                  soft_kernel(open_.softening, frame_.softening), goal_of_whole_);
    }

    /// At which this GPU evaluates far images; null: all sources.
    [[nodiscard]] const double* own_targets() const {
        const auto computed = shared_rows_->computed();
        const bool shared = computed.size() < problem_.targets;
        return problem_.self && !shared ? nullptr : targets() + 3 * computed.begin;
    }

    void make_rim() {
        if (!rim_)
            rim_ = make_open(rim_problem(problem_, frame_.exponent, rim_points_.count()),
                             rim_options_on_gpu(options_, frame_.exponent));
        rim_->set_points(view_of(rim_points_.points(), rim_points_.count()),
                         view_of(targets(), problem_.targets));
    }

    void read_strengths(const ConstArrayView& view) {
        make_room(strengths_, std::max<std::size_t>(1, static_cast<std::size_t>(problem_.sources)));
        const auto read = transfers_.read(view, problem_.sources, 1, strengths_.data(), "strengths", stream_);
        if (read.bad >= 0) refuse_strength("strengths", read.bad, read.bad_value);
    }

    [[nodiscard]] std::array<double, 3> middle() const {
        std::array<double, 3> out{};
        for (std::size_t k = 0; k < 3; ++k) out[k] = 0.5 * frame_.length[k];
        return out;
    }

    void clear(double* potential, double* field) const {
        const auto count = static_cast<std::size_t>(rows());
        const auto stream = own_stream_->get();
        if (potential != nullptr)
            check(cudaMemsetAsync(potential, 0, count * sizeof(double), stream), "clearing results");
        if (field != nullptr)
            check(cudaMemsetAsync(field, 0, 3 * count * sizeof(double), stream), "clearing results");
        own_stream_->synchronize();
    }

    void sum_part(PreparedSum& sum, const double* strengths, std::int64_t n, const SumOutputs& outputs,
                  PartSums& part, const SumHooks& hooks, SumReport& report) const {
        const auto m = problem_.targets;
        const Device here{DeviceType::cuda, device_};
        SumOutputs into;
        if (outputs.potential) into.potential = {part.potential.data(), DType::float64, {m}, here};
        if (outputs.field) into.field = {part.field.data(), DType::float64, {m, 3}, here};
        // it agrees with other ranks on its errors, but for those of results after its last exchange
        comm::together(ranks_, [&] {
            sum.execute({strengths, DType::float64, {n}, here}, into,
                        {.progress = {}, .stop_requested = hooks.stop_requested}, report);
        });
    }

    // Points are wrapped into the box, so that none meets an image, unless it is rounded.
    void sum_rim(const SumOutputs& outputs, const SumHooks& hooks, SumReport& report) {
        try {
            sum_part(*rim_, rim_points_.strengths(), rim_points_.count(), outputs, of_rim_, hooks, report);
        } catch (const InvalidArgument&) {
            if (options_.precision != Precision::float32) throw;
            throw InvalidArgument("sources: a point meets an image of another once both are rounded to "
                                  "float; use more digits for the precision, or move one of them");
        }
    }

    void compute_whole(const SumOutputs& outputs, const SumHooks& hooks, const BoxMoments& moments,
                       double* potential, double* field, SumReport& report) {
        const auto stream = own_stream_->get();
        sum_part(*whole_, strengths_.data(), problem_.sources, outputs, of_home_, hooks, report);
        stop_if_asked(hooks);
        PassTimer timer;
        if (has_far()) add_far(timer);
        comm::together(ranks_, [&] {
            if (!has_far()) timer.begin(stream);
            leave(outputs, moments, potential, field);
            timer.mark(has_far() ? "far images" : "other terms", stream);
            own_stream_->synchronize();
        });
        report.compute_seconds += timer.total();
        for (auto& pass : timer.seconds()) report.passes.push_back(std::move(pass));
        const int coarse = report.fmm.coarse;
        report.lattice = {
            .order = report.fmm.order, .excess_strength = moments.total, .cells = coarse * coarse * coarse};
    }

    void compute(const SumOutputs& outputs, const SumHooks& hooks, const BoxMoments& moments,
                 double* potential, double* field, SumReport& report) {
        const auto stream = own_stream_->get();
        sum_part(*home_, strengths_.data(), problem_.sources, outputs, of_home_, hooks, report);
        if (report.passes.empty()) report.passes.push_back({"pairs", report.compute_seconds});
        SumReport rim;
        sum_rim(outputs, hooks, rim);
        stop_if_asked(hooks);
        PassTimer timer;
        add_far(timer);
        comm::together(ranks_, [&] {
            leave(outputs, moments, potential, field);
            timer.mark("far images", stream);
            own_stream_->synchronize();
        });
        tell(rim, timer, moments, report);
    }

    /// From far images to all targets.
    void add_far(PassTimer& timer) {
        const auto stream = own_stream_->get();
        comm::together(ranks_, [&] {
            timer.begin(stream);
            auto* const of_share = of_far_.data() + shared_rows_->computed().begin;
            if (by_images_ && !is_soft())
                far_.compute(strengths_.data(), of_share, stream);
            else
                soft_.compute(strengths_.data(), of_share, stream);
            timer.mark("far images", stream);
        });
        const bool gathered = shared_rows_->gather(
            {{reinterpret_cast<std::byte*>(of_far_.data()), sizeof(Vec4<double>)}}, stream);
        if (gathered) timer.mark("other ranks", stream);
    }

    void leave(const SumOutputs& outputs, const BoxMoments& moments, double* potential, double* field) const {
        const auto from = middle();
        const auto first = first_row();
        finish({.m = rows(),
                .home = of_home_.results(outputs, first),
                .rim = !by_images_ ? PartResults{} : of_rim_.results(outputs, first),
                .far = !has_far() ? nullptr : of_far_.data() + first,
                .potential = potential,
                .field = field,
                .sign = problem_.kernel->sign,
                .unit = frame_.scale(),
                .quadratic = problem_.is_periodic_box() && are_harmonics(),
                .vacuum = problem_.boundary == Boundary::vacuum,
                .volume = frame_.volume(),
                .middle = {from[0], from[1], from[2]},
                .moments = moments,
                .origin = source_points_},
               {targets() + 3 * first, given_targets() + 3 * first, rows()}, own_stream_->get());
    }

    void tell(const SumReport& rim, const PassTimer& timer, const BoxMoments& moments,
              SumReport& report) const {
        report.passes.push_back({"near images", rim.compute_seconds});
        report.compute_seconds += rim.compute_seconds + timer.total();
        for (auto& pass : timer.seconds()) report.passes.push_back(std::move(pass));
        report.prepare_seconds += rim.prepare_seconds;
        report.direct.coincident_pairs_skipped += rim.direct.coincident_pairs_skipped;
        // of all targets on every rank, and own_rows.cu adds up those of ranks
        if (has_whole_rows() && ranks_->rank() > 0) report.direct.coincident_pairs_skipped = 0;
        report.lattice = {.near_pairs = problem_.targets * rim_points_.count(),
                          .order = is_soft() ? soft_.degree() : shape_.order,
                          .excess_strength = moments.total,
                          .rim_images = rim_points_.count(),
                          .cells = grid_->count()};
    }

    OpenSums open_;
    PeriodicFrame frame_;
    ImageShape shape_;
    double goal_of_whole_;                   ///< of the softening of its far images
    std::unique_ptr<PreparedSum> whole_;     ///< of the box and all images, or none
    bool by_images_ = true, placed_ = false; ///< the points at hand are summed by parts; they are in the sums
    std::vector<double> refinements_;        ///< errors that the whole sum was refined for
    std::unique_ptr<PreparedSum> home_, rim_;
    std::optional<ImageGrid> grid_; ///< of images; none where nothing was summed by them
    BoxExtent extent_;              ///< that it was chosen for, and the order
    int order_of_grid_ = 0;
    DeviceRim rim_points_;
    DeviceFarImages far_; ///< or, of softened charges,
    DeviceSoftImages soft_;
    BoxMomentSums moment_sums_;
    comm::Transport* ranks_;                ///< null: there is one alone
    std::optional<SharedRows> shared_rows_; ///< targets of far images
    Signal points_there_;
    std::array<Extent, 3> ranges_{};                    ///< of points as given
    DeviceArray<double> sources_, targets_, strengths_; ///< points in the box, in its frame
    PartSums of_home_, of_rim_;
    DeviceArray<Vec4<double>> of_far_;
    DeviceArray<double> potential_, field_; ///< where the caller's arrays are elsewhere, or strided
};

} // namespace

std::unique_ptr<PreparedSum> make_gpu_image_sum(const SumProblem& problem, const SumOptions& options,
                                                int device, const OpenSums& open) {
    const DeviceScope scope(device); // events are of the GPU that is current when they are made
    return std::make_unique<ImagesOnGpu>(problem, options, device, open);
}

} // namespace farfield::cuda
