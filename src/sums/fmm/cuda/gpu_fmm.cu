#include "sums/fmm/gpu_fmm.h"

#include "sums/costs/cost_file.h"
#include "sums/direct/cuda/on_one_gpu.cuh"
#include "sums/direct/cuda/pass_timer.cuh"
#include "sums/fmm/cuda/device_passes.cuh"
#include "sums/fmm/cuda/leave.cuh"
#include "sums/fmm/gpu_shape.h"
#include "sums/tree/cuda/launch.cuh"

#include <algorithm>
#include <cmath>
#include <utility>

namespace farfield::cuda {
namespace {

class FmmOnGpu : public OnOneGpu {
public:
    FmmOnGpu(const SumProblem& problem, const SumOptions& options, int device)
        : OnOneGpu(problem, options, device),
          shape_(gpu_fmm_shape(problem, options, cost_table_in_use().table)) {}

    void set_points(const ConstArrayView& sources, const ConstArrayView& targets) override {
        const DeviceScope scope(device_);
        stream_ = stream_for(sources, targets);
        const auto ranges = read_both(sources, targets, 3, sources_, targets_);
        const bool any = problem_.sources + problem_.targets > 0;
        frame_ = any ? choose_frame(ranges, options_.softening) : Frame{};
        if (any) fit_shape(framed(ranges, frame_));
        orders_ = {};
        prepare();
    }

    void execute(const ConstArrayView& strength_view, const SumOutputs& outputs, const SumHooks& hooks,
                 SumReport& report) override {
        execute_with_dipoles(strength_view, {}, outputs, hooks, report);
    }

    void execute_with_dipoles(const ConstArrayView& strength_view, const ConstArrayView& dipole_view,
                              const SumOutputs& outputs, const SumHooks& hooks, SumReport& report) override {
        const auto begin = Clock::now();
        const DeviceScope scope(device_);
        begin_execution(outputs, strength_view, dipole_view);
        stop_if_asked(hooks);
        describe(report);
        const int exponent = read_strengths(strength_view, dipole_view);
        const auto read_at = Clock::now();
        report.prepare_seconds = seconds_between(begin, read_at);
        const int wanted = (outputs.potential ? potential_only : 0) | (outputs.field ? field_only : 0) |
                           (outputs.hessian ? hessian_too : 0);
        if (wanted == 0) return;
        potentials_at_ = outputs.potential ? place_of(outputs.potential, potential_, 1) : nullptr;
        fields_at_ = outputs.field ? place_of(outputs.field, field_, 3) : nullptr;
        hessians_at_ = outputs.hessian ? place_of(outputs.hessian, hessian_, 6) : nullptr;
        const bool finite = compute(wanted, exponent, report);
        if (!finite) report.direct.coincident_pairs_skipped = repair(exponent);
        if (potentials_at_ != nullptr && potentials_at_ == potential_.data())
            transfers_.write(potentials_at_, outputs.potential, problem_.targets, 1, stream_);
        if (fields_at_ != nullptr && fields_at_ == field_.data())
            transfers_.write(fields_at_, outputs.field, problem_.targets, 3, stream_);
        if (hessians_at_ != nullptr && hessians_at_ == hessian_.data())
            transfers_.write(hessians_at_, outputs.hessian, problem_.targets, 6, stream_);
        report.finish_seconds = seconds_between(read_at, Clock::now()) - report.compute_seconds;
        if (hooks.progress) hooks.progress(1.0);
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
    // What cells cost depends on their width beside ε.
    void fit_shape(const std::array<Extent, 3>& ranges) {
        softening_in_sides_ = softening() / longest_side(ranges);
        if (softening_in_sides_ > 0.0)
            shape_ = gpu_fmm_shape(problem_, options_, cost_table_in_use().table, shape_.order.order,
                                   softening_in_sides_);
        cube_ = cube_around(ranges, shape_.tree.steps);
    }

    /// In the frame.
    [[nodiscard]] double softening() const { return std::ldexp(options_.softening, frame_.exponent); }

    /// By which they count, as powers of two; dipoles by that of lengths as well.
    int read_strengths(const ConstArrayView& view, const ConstArrayView& dipoles) {
        const auto n = static_cast<std::size_t>(problem_.sources);
        const auto read = [&](const ConstArrayView& from, int columns, DeviceArray<double>& to,
                              std::string_view what) {
            make_room(to, std::max<std::size_t>(1, static_cast<std::size_t>(columns) * n));
            const auto result = transfers_.read(from, problem_.sources, columns, to.data(), what, stream_);
            if (result.bad >= 0) refuse_strength(what, result.bad / columns, result.bad_value);
            double largest = 0.0;
            for (std::size_t k = 0; k < static_cast<std::size_t>(columns) && n > 0; ++k)
                largest = std::max({largest, -result.ranges[k].low, result.ranges[k].high});
            return largest;
        };
        const double largest = read(view, 1, strengths_, "strengths");
        has_dipoles_ = static_cast<bool>(dipoles);
        if (!has_dipoles_) return n == 0 ? 0 : strength_exponent(largest);
        const double longest = read(dipoles, 3, dipoles_, "dipoles");
        return n == 0 ? 0 : strength_exponent(largest, longest, frame_.exponent);
    }

    void prepare() {
        PassTimer timer(stream_);
        tree_.build(sources_.data(), static_cast<int>(problem_.sources),
                    problem_.self ? nullptr : targets_.data(), static_cast<int>(problem_.targets), frame_,
                    cube_, shape_.tree, shape_.few, stream_);
        timer.mark("tree", stream_);
        if (shape_.wide)
            prepare_passes(wide_);
        else
            prepare_passes(narrow_);
        timer.mark("operators", stream_);
        const auto parts = timer.seconds();
        tree_seconds_ = parts.front().seconds;
    }

    template <class Real>
    void prepare_passes(DevicePasses<Real>& passes) {
        const LeafGrid finest{shape_.tree.coarse, tree_.levels() - 1};
        const bool has_far = finest.has_far_cells(shape_.order.separation);
        PlainFar<Real> far;
        if (has_far)
            far = plain_far<Real>(shape_.order, softening() / tree_.view().width, tree_.levels(),
                                  thread_count(options_.threads));
        multiply_adds_ = 0.0;
        for (int level = 0; level < tree_.levels(); ++level)
            multiply_adds_ += far.multiply_adds(shape_.order, level) *
                              (tree_.level_begin(level + 1) - tree_.level_begin(level));
        const bool mends = problem_.precision == Precision::mixed && !shape_.order.rounded;
        passes.prepare(tree_, far, mends, stream_);
    }

    void describe(SumReport& report) const {
        report.device = {.kind = DeviceKind::cuda, .gpus = {device_}};
        auto order = shape_.order;
        report.fmm = {.order = order.order,
                      .m2l = order.rounded ? M2L::matrix : order.m2l, // on tensor cores
                      .separation = order.separation,
                      .coarse = shape_.tree.coarse,
                      .levels = tree_.levels(),
                      .cells = tree_.cells(),
                      .leaves = tree_.leaf_count(),
                      .near_pairs = tree_.near_pairs(),
                      .multiply_adds = multiply_adds_};
    }

    bool compute(int wanted, int exponent, SumReport& report) {
        return shape_.wide ? compute_in(wide_, wide_near_, wanted, exponent, report)
                           : compute_in(narrow_, narrow_near_, wanted, exponent, report);
    }

    /// The sums, signed and scaled, at `potentials_at_` and `fields_at_`. False where one is not finite.
    template <class Real>
    bool compute_in(DevicePasses<Real>& passes, DeviceArray<Vec4<Real>>& near, int wanted, int exponent,
                    SumReport& report) {
        const auto m = static_cast<std::size_t>(problem_.targets);
        make_room(near, m);
        make_room(far_, passes.has_far_field() ? m : 0);
        const bool with_hessian = (wanted & hessian_too) != 0;
        make_room(near_hessians_, with_hessian ? 6 * m : 0);
        make_room(far_hessians_, with_hessian && passes.has_far_field() ? 6 * m : 0);
        check(cudaMemsetAsync(not_finite_.data(), 0, sizeof(int), stream_), "clearing a flag");
        PassTimer timer(stream_);
        passes.set_strengths(tree_, strengths_.data(), exponent, stream_);
        passes.set_dipoles(tree_, has_dipoles_ ? dipoles_.data() : nullptr, exponent + frame_.exponent,
                           stream_);
        timer.mark("strengths", stream_);
        passes.run(
            tree_, softening(), wanted,
            {near.data(), far_.data(), near_hessians_.data(), far_hessians_.data()},
            [&](std::string_view name, cudaStream_t stream) { timer.mark(name, stream); }, stream_);
        timer.begin(stream_);
        const auto& kernel = *problem_.kernel;
        const LeaveTask<Real> task{
            near.data(),
            passes.has_far_field() && (wanted & field_and_potential) != 0 ? far_.data() : nullptr,
            tree_.targets().where.data(),
            {.potential = potentials_at_,
             .field = fields_at_,
             .sign = kernel.sign,
             .potential_exponent = kernel.result_exponent(Output::potential, frame_.exponent, exponent),
             .field_exponent = kernel.result_exponent(Output::field, frame_.exponent, exponent),
             .n = static_cast<int>(m),
             .not_finite = not_finite_.data()},
            near_hessians_.data(),
            passes.has_far_field() ? far_hessians_.data() : nullptr,
            hessians_at_,
            hessians_at_ == nullptr ? 0 : kernel.result_exponent(Output::hessian, frame_.exponent, exponent)};
        launch_over(static_cast<std::int64_t>(m), stream_, leave_kernel<Real>, task);
        timer.mark("results", stream_);
        int flag = 0;
        copy(&flag, not_finite_.data(), 1, stream_);
        check(cudaStreamSynchronize(stream_), "waiting for the GPU");
        report.fmm.tree_seconds = tree_seconds_;
        report.compute_seconds += timer.total();
        for (auto& pass : timer.seconds()) report.passes.push_back(std::move(pass));
        return flag == 0;
    }

    std::int64_t repair(int exponent) {
        const auto n = static_cast<std::size_t>(problem_.sources);
        const auto m = static_cast<std::size_t>(problem_.targets);
        const auto q = downloaded(strengths_, n, stream_);
        const Seen<double> from(downloaded(sources_, 3 * n, stream_), q, frame_, exponent, false);
        const std::optional<Seen<double>> to =
            problem_.self ? std::nullopt
                          : std::optional<Seen<double>>(std::in_place, downloaded(targets_, 3 * m, stream_),
                                                        std::vector<double>{}, frame_, 0, false);
        const auto from_gpu = [&](const double* from, std::size_t count) {
            std::vector<double> out(from == nullptr ? 0 : count);
            copy(out.data(), from, out.size(), stream_);
            check(cudaStreamSynchronize(stream_), "waiting for the GPU");
            return out;
        };
        auto phi = from_gpu(potentials_at_, m);
        auto e = from_gpu(fields_at_, 3 * m);
        auto hessian = from_gpu(hessians_at_, 6 * m);
        auto p = from_gpu(has_dipoles_ ? dipoles_.data() : nullptr, 3 * n);
        for (auto& component : p) component = std::ldexp(component, exponent + frame_.exponent);
        const auto skipped = repair_rows({.sources = problem_.sources,
                                          .targets = problem_.targets,
                                          .source_points = from.at.data(),
                                          .strengths = from.strengths.data(),
                                          .dipoles = p.empty() ? nullptr : p.data(),
                                          .target_points = problem_.self ? from.at.data() : to->at.data(),
                                          .self = problem_.self,
                                          .softening = softening(),
                                          .frame_exponent = frame_.exponent,
                                          .strength_exponent = exponent,
                                          .sign = problem_.kernel->sign,
                                          .precision = options_.precision,
                                          .coincident = options_.coincident,
                                          .threads = thread_count(options_.threads),
                                          .potential = phi.empty() ? nullptr : phi.data(),
                                          .field = e.empty() ? nullptr : e.data(),
                                          .hessian = hessian.empty() ? nullptr : hessian.data()});
        copy(potentials_at_, phi.data(), phi.size(), stream_);
        copy(fields_at_, e.data(), e.size(), stream_);
        copy(hessians_at_, hessian.data(), hessian.size(), stream_);
        check(cudaStreamSynchronize(stream_), "waiting for the GPU");
        return skipped;
    }

    FmmShape shape_;
    Frame frame_;
    double softening_in_sides_ = 0.0; ///< of the cube around all points
    TreeCube cube_;
    DeviceTree tree_;
    DevicePasses<float> narrow_;
    DevicePasses<double> wide_;
    double tree_seconds_ = 0.0, multiply_adds_ = 0.0;
    OrderSearch orders_;
    DeviceArray<double> sources_, targets_, strengths_, dipoles_; ///< as the caller gave them, in double
    bool has_dipoles_ = false;                                    ///< in the execution at hand
    DeviceArray<Vec4<float>> narrow_near_;
    DeviceArray<Vec4<double>> wide_near_, far_;
    DeviceArray<double> near_hessians_, far_hessians_;
    DeviceArray<double> potential_, field_, hessian_; ///< where the caller's arrays are elsewhere, or strided
    double *potentials_at_ = nullptr, *fields_at_ = nullptr, *hessians_at_ = nullptr;
};

} // namespace

std::unique_ptr<PreparedSum> make_gpu_fmm(const SumProblem& problem, const SumOptions& options, int device) {
    const DeviceScope scope(device); // events are of the GPU that is current when they are made
    return std::make_unique<FmmOnGpu>(problem, options, device);
}

} // namespace farfield::cuda
