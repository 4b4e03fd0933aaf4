#include "sums/fmm/gpu_fmm.h"

#include "sums/costs/cost_file.h"
#include "sums/direct/cuda/framed_sum.cuh"
#include "sums/fmm/cuda/device_passes.cuh"
#include "sums/fmm/gpu_shape.h"
#include "sums/tree/cuda/launch.cuh"

#include <algorithm>
#include <cmath>
#include <utility>

namespace farfield::cuda {
namespace {

class FmmOnGpu : public FramedSum {
public:
    FmmOnGpu(const SumProblem& problem, const SumOptions& options, int device)
        : FramedSum(problem, options, device),
          shape_(gpu_fmm_shape(problem, options, cost_table_in_use().table)) {}

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

    void prepare() {
        tree_timer_.restart(stream_);
        tree_.build(sources_.data(), static_cast<int>(problem_.sources),
                    problem_.self ? nullptr : targets_.data(), static_cast<int>(problem_.targets), frame_,
                    cube_, shape_.tree, shape_.few, stream_);
        if (shape_.wide)
            prepare_passes(wide_);
        else
            prepare_passes(narrow_);
        tree_timer_.mark("tree", stream_);
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
            multiply_adds_ +=
                far.multiply_adds(level) * (tree_.level_begin(level + 1) - tree_.level_begin(level));
        const bool mends = problem_.precision == Precision::mixed && !shape_.order.rounded;
        passes.prepare(tree_, far, mends, stream_);
    }

    void describe(SumReport& report) const override {
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

    bool compute(int wanted, int exponent, SumReport& report) override {
        return shape_.wide ? compute_in(wide_, wide_near_, wanted, exponent, report)
                           : compute_in(narrow_, narrow_near_, wanted, exponent, report);
    }

    template <class Real>
    bool compute_in(DevicePasses<Real>& passes, DeviceArray<Vec4<Real>>& near, int wanted, int exponent,
                    SumReport& report) {
        const auto m = static_cast<std::size_t>(problem_.targets);
        make_room(near, m);
        make_room(far_, passes.has_far_field() ? m : 0);
        const bool with_hessian = (wanted & hessian_too) != 0;
        make_room(near_hessians_, with_hessian ? 6 * m : 0);
        make_room(far_hessians_, with_hessian && passes.has_far_field() ? 6 * m : 0);
        auto& timer = pass_timer_;
        timer.restart(stream_);
        passes.set_sources(
            tree_,
            {sources_.data(), strengths_.data(), has_dipoles_ ? dipoles_.data() : nullptr, frame_, exponent},
            stream_);
        timer.mark("strengths", stream_);
        if (problem_.self) {
            sources_set_.record(stream_);
            sources_set_.hold(side_stream_.get());
            tree_.find_sources(side_stream_.get());
            sources_found_.record(side_stream_.get());
        }
        passes.run(
            tree_, softening(), wanted,
            {near.data(), far_.data(), near_hessians_.data(), far_hessians_.data()},
            [&](std::string_view name, cudaStream_t stream) { timer.mark(name, stream); }, stream_);
        if (problem_.self) sources_found_.hold(stream_);
        timer.begin(stream_);
        const LeaveTask<Real> task{
            near.data(),
            passes.has_far_field() && (wanted & field_and_potential) != 0 ? far_.data() : nullptr,
            tree_.targets().where.data(),
            finish_task(exponent),
            near_hessians_.data(),
            passes.has_far_field() ? far_hessians_.data() : nullptr,
            hessians_at_,
            hessians_at_ == nullptr
                ? 0
                : problem_.kernel->result_exponent(Output::hessian, frame_.exponent, exponent)};
        launch_over(static_cast<std::int64_t>(m), stream_, leave_kernel<Real>, task);
        timer.mark("results", stream_);
        const bool finite = all_finite();
        report.fmm.tree_seconds = tree_timer_.total();
        report.compute_seconds += timer.total();
        for (auto& pass : timer.seconds()) report.passes.push_back(std::move(pass));
        return finite;
    }

    FmmShape shape_;
    double softening_in_sides_ = 0.0; ///< of the cube around all points
    TreeCube cube_;
    DeviceTree tree_{3, false}; ///< its sources are set with their strengths
    DevicePasses<float> narrow_;
    DevicePasses<double> wide_;
    PassTimer tree_timer_, pass_timer_;
    double multiply_adds_ = 0.0;
    OrderSearch orders_;
    Stream side_stream_ = Stream::urgent(); ///< what results need beside sums
    Signal sources_set_, sources_found_;
    DeviceArray<Vec4<float>> narrow_near_;
    DeviceArray<Vec4<double>> wide_near_, far_;
    DeviceArray<double> near_hessians_, far_hessians_;
};

} // namespace

std::unique_ptr<PreparedSum> make_gpu_fmm(const SumProblem& problem, const SumOptions& options, int device) {
    const DeviceScope scope(device); // events are of the GPU that is current when they are made
    return std::make_unique<FmmOnGpu>(problem, options, device);
}

} // namespace farfield::cuda
