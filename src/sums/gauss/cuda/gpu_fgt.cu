#include "sums/gauss/gpu_fgt.h"

#include "sums/direct/cuda/gauss/gauss_on_gpu.cuh"
#include "sums/gauss/cuda/gauss_grid.cuh"
#include "sums/gauss/cuda/gauss_lattice.cuh"
#include "sums/method/refining.h"

#include <algorithm>
#include <utility>

namespace farfield::cuda {
namespace {

constexpr double tolerance_if_none = 1e-6;
constexpr double least_gpu_aim = 1e-17; ///< below, a cut-off leaves out nothing that double holds

SumProblem in_double(SumProblem problem) {
    problem.precision = Precision::float64;
    return problem;
}

class FgtOnGpu : public GaussOnGpu {
public:
    FgtOnGpu(const SumProblem& problem, const SumOptions& options, int device)
        : GaussOnGpu(in_double(problem), options, device),
          aim_(problem.tolerance > 0.0 ? problem.tolerance : tolerance_if_none), wanted_(options.strategy),
          sets_(problem.self) {}

    void set_points(const ConstArrayView& sources, const ConstArrayView& targets) override {
        const DeviceScope scope(device_);
        stream_ = stream_for(sources, targets);
        read_sets(sources, targets);
        prepare();
    }

    bool refine(double error) override {
        const DeviceScope scope(device_);
        const double factor = refinement(error, problem_.tolerance);
        double aim = aim_;
        auto wanted = wanted_;
        if (shape_.rule != nullptr) {
            auto next = shape_;
            const auto is_as_before = [&] { return next.rule == shape_.rule && next.wide == shape_.wide; };
            for (; aim > least_gpu_aim && is_as_before(); aim /= factor)
                next = gpu_gauss_shape(problem_, options_, extent_, frame_, aim / factor, wanted_);
            if (next.rule == nullptr || is_as_before()) {
                if (options_.strategy != GaussStrategy::automatic) return false;
                wanted = GaussStrategy::pairs;
                aim = problem_.tolerance;
            }
        } else {
            if (aim <= least_gpu_aim) return false;
            wanted = GaussStrategy::pairs;
            aim = std::max(least_gpu_aim, aim / factor);
        }
        aim_ = aim;
        wanted_ = wanted;
        prepare();
        return true;
    }

private:
    void prepare() {
        shape_ = gpu_gauss_shape(problem_, options_, extent_, frame_, aim_, wanted_);
        check_has_gauss_shape(wanted_, shape_.seconds);
        sets_.set(source_rows_.data(), static_cast<int>(problem_.sources), target_rows_.data(),
                  static_cast<int>(problem_.targets));
        // what an earlier shape took of the memory is not predicted for this one, too
        if (shape_.rule != nullptr) pairs_ = {};
        if (shape_.rule == nullptr || shape_.wide) floats_ = {};
        if (shape_.rule == nullptr || !shape_.wide) doubles_ = {};
        if (shape_.rule == nullptr) {
            const GaussLattice lattice(extent_, frame_, problem_.dimension, shape_.side);
            pairs_.prepare(shape_, LatticeOnGpu(lattice, frame_), sets_, stream_);
        } else {
            const GridPlacing placing(*shape_.rule, extent_, frame_, problem_.dimension);
            grid_numbers_ = placing.numbers();
            if (shape_.wide)
                doubles_.prepare(shape_, placing, sets_, stream_);
            else
                floats_.prepare(shape_, placing, sets_, stream_);
        }
    }

    void compute(SumReport& report) override {
        const GaussRunOnGpu task{.strengths = strengths_.data(),
                                 .exponent = exponent_,
                                 .without_own = problem_.without_own(),
                                 .potential = potential_at_,
                                 .gradient = gradient_at_,
                                 .not_finite = not_finite_.data()};
        PassTimer timer(stream_);
        if (shape_.rule == nullptr)
            pairs_.run(task, sets_, frame_, timer, stream_);
        else if (shape_.wide)
            doubles_.run(task, sets_, frame_.exponent, timer, stream_);
        else
            floats_.run(task, sets_, frame_.exponent, timer, stream_);
        report.compute_seconds += timer.total();
        for (auto& pass : timer.seconds()) add_pass(report, std::move(pass));
    }

    static void add_pass(SumReport& report, PassTime pass) {
        const auto known = std::find_if(report.passes.begin(), report.passes.end(),
                                        [&](const PassTime& other) { return other.name == pass.name; });
        if (known == report.passes.end())
            report.passes.push_back(std::move(pass));
        else
            known->seconds += pass.seconds;
    }

    void describe(SumReport& report) const override {
        report.precision = shape_.wide ? Precision::float64 : Precision::float32;
        if (shape_.rule != nullptr)
            report.fgt = {
                .strategy = GaussStrategy::grid, .width = shape_.rule->width, .grid_numbers = grid_numbers_};
        else
            report.fgt = {.strategy = GaussStrategy::pairs,
                          .cutoff = shape_.cutoff / frame_.sigma,
                          .cells = pairs_.cells(),
                          .near_pairs = pairs_.pairs()};
        report.fgt.sort_seconds = sets_.sort_seconds();
        report.fgt.order_seconds = sets_.order_seconds();
    }

    double aim_; ///< the error that shapes are chosen for
    GaussStrategy wanted_;
    GpuGaussShape shape_;
    std::int64_t grid_numbers_ = 0;
    GaussSets sets_;
    GaussGridOnGpu<float> floats_;
    GaussGridOnGpu<double> doubles_;
    GaussLatticeOnGpu pairs_; ///< by the shape, one of the three is used
};

} // namespace

std::unique_ptr<PreparedSum> make_gpu_fgt(const SumProblem& problem, const SumOptions& options, int device) {
    const DeviceScope scope(device); // events are of the GPU that is current when they are made
    return std::make_unique<FgtOnGpu>(problem, options, device);
}

} // namespace farfield::cuda
