#include "sums/gauss/gpu_fgt.h"

#include "sums/direct/cuda/on_one_gpu.cuh"
#include "sums/direct/cuda/pass_timer.cuh"
#include "sums/direct/gauss/gauss_results.h"
#include "sums/gauss/cuda/cell_pairs.cuh"
#include "sums/gauss/cuda/grid_passes.cuh"
#include "sums/gauss/cuda/sorted_points.cuh"
#include "sums/gauss/gpu_shape.h"
#include "sums/gauss/grid/paired_window.h"
#include "sums/method/vectors.h"

#include <farfield/error.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace farfield::cuda {
namespace {

constexpr double tolerance_if_none = 1e-6;
constexpr double least_gpu_aim = 1e-17; ///< below, a cut-off leaves out nothing that double holds

/// Points, strengths and the grid, in numbers of one type.
template <class Real>
struct OnGrid {
    DeviceArray<GridPoint<Real>> sources, targets;
    DeviceArray<Real> strengths, first, second;
};

/// Pairs up to a cut-off.
struct OnLattice {
    LatticeOnGpu lattice;
    DeviceArray<Vec4<double>> sources, targets;
    DeviceArray<unsigned long long> pairs;
};

SumProblem in_double(SumProblem problem) {
    problem.precision = Precision::float64;
    return problem;
}

class FgtOnGpu : public OnOneGpu {
public:
    FgtOnGpu(const SumProblem& problem, const SumOptions& options, int device)
        : OnOneGpu(in_double(problem), options, device),
          aim_(problem.tolerance > 0.0 ? problem.tolerance : tolerance_if_none) {
        lattice_.pairs = DeviceArray<unsigned long long>(1);
    }

    void set_points(const ConstArrayView& sources, const ConstArrayView& targets) override {
        const DeviceScope scope(device_);
        prepared_ = false;
        stream_ = stream_for(sources, targets);
        const auto ranges = read_both(sources, targets, problem_.dimension, source_rows_, target_rows_);
        extent_ = {};
        for (std::size_t k = 0; k < static_cast<std::size_t>(problem_.dimension); ++k)
            if (ranges[k].low <= ranges[k].high) {
                extent_.low[k] = ranges[k].low;
                extent_.high[k] = ranges[k].high;
            }
        frame_ = choose_gauss_frame(problem_, extent_);
        check_gpu_frame(problem_, frame_);
        prepare();
    }

    void execute(const ConstArrayView& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                 SumReport& report) override {
        const auto begin = Clock::now();
        const DeviceScope scope(device_);
        if (outputs.potential) transfers_.check_device(outputs.potential, "potential");
        if (outputs.gradient) transfers_.check_device(outputs.gradient, "gradient");
        stream_ = stream_for(strengths, outputs.potential, outputs.gradient);
        if (!prepared_)
            throw InvalidArgument("the sum has no points: the last ones could not be taken; give it some");
        const auto vectors = gauss_vectors_of(strengths);
        for (std::int64_t v = 0; v < vectors; ++v) {
            if (hooks.stop_requested && hooks.stop_requested())
                throw Interrupted("the sum was given up before its end");
            const SumStrengths all{.charges = strengths, .dipoles = {}};
            execute_one(strengths_of_vector(problem_, all, v).charges,
                        outputs_of_vector(problem_, outputs, v), report);
            if (hooks.progress) hooks.progress(static_cast<double>(v + 1) / static_cast<double>(vectors));
        }
        describe(report);
        report.finish_seconds =
            seconds_between(begin, Clock::now()) - report.compute_seconds - report.prepare_seconds;
    }

    bool refine(double error) override {
        const DeviceScope scope(device_);
        const double factor = std::clamp(2.0 * error / problem_.tolerance, 4.0, 1e4);
        if (shape_.rule != nullptr) {
            const auto before = shape_;
            const auto is_as_before = [&] {
                return shape_.rule == before.rule && shape_.wide == before.wide;
            };
            for (; aim_ > least_gpu_aim && is_as_before(); aim_ /= factor)
                shape_ = gpu_gauss_shape(problem_, options_, extent_, frame_, aim_ / factor, true);
            may_grid_ = shape_.rule != nullptr && !is_as_before();
            if (!may_grid_) aim_ = std::min(aim_, problem_.tolerance);
        } else {
            if (aim_ <= least_gpu_aim) return false;
            may_grid_ = false;
            aim_ = std::max(least_gpu_aim, aim_ / factor);
        }
        prepare();
        return true;
    }

private:
    [[nodiscard]] int source_count() const { return static_cast<int>(problem_.sources); }
    [[nodiscard]] int target_count() const { return static_cast<int>(problem_.targets); }
    [[nodiscard]] const SortedGaussPoints& targets() const { return problem_.self ? sources_ : targets_; }

    void prepare() {
        prepared_ = false;
        shape_ = gpu_gauss_shape(problem_, options_, extent_, frame_, aim_, may_grid_);
        sources_.set(source_rows_.data(), source_count());
        if (!problem_.self) targets_.set(target_rows_.data(), target_count());
        if (shape_.rule == nullptr)
            prepare_pairs();
        else if (shape_.wide)
            prepare_grid(wide_);
        else
            prepare_grid(narrow_);
        prepared_ = true;
    }

    /// Calls `sort` and then `place` for the sources and, if they are not the same, the targets.
    template <class Sort, class Place>
    void sort_and_place(const Sort& sort, const Place& place) {
        PassTimer timer(stream_);
        sort(sources_);
        if (!problem_.self) sort(targets_);
        timer.mark("sort", stream_);
        place(true);
        if (!problem_.self) place(false);
        timer.mark("order", stream_);
        const auto passes = timer.seconds();
        sort_seconds_ = passes[0].seconds;
        order_seconds_ = passes[1].seconds;
    }

    template <class Real>
    void prepare_grid(OnGrid<Real>& grid) {
        window_.emplace(*shape_.rule, beyond_width<Real>);
        placing_ = GridPlacing(*shape_.rule, extent_, frame_, problem_.dimension);
        const auto numbers = static_cast<std::size_t>(placing_.numbers());
        make_room(grid.first, numbers);
        make_room(grid.second, numbers);
        make_room(grid.sources, static_cast<std::size_t>(problem_.sources));
        if (!problem_.self) make_room(grid.targets, static_cast<std::size_t>(problem_.targets));
        if (shape_.sparse && prepare_columns(grid)) return;
        shape_.sparse = false;
        make_room(spread_, numbers);
        sort_and_place([&](SortedGaussPoints& points) { points.sort_by_cells(placing_, stream_); },
                       [&](bool of_sources) {
                           auto& out = of_sources ? grid.sources : grid.targets;
                           (of_sources ? sources_ : targets_).place(placing_, out.data(), stream_);
                       });
    }

    /// False where points lie so unevenly that a few warps would be at work for long.
    template <class Real>
    bool prepare_columns(OnGrid<Real>& grid) {
        constexpr int most_points = 8192;
        columns_ = GridColumns(placing_);
        bool even = true;
        const auto sort = [&](SortedGaussPoints& points) {
            auto& starts = &points == &sources_ ? source_starts_ : target_starts_;
            make_room(starts, static_cast<std::size_t>(columns_.total()) + 1);
            points.sort_by_columns(placing_, stream_);
            find_plane_starts(points.keys(), points.count(), columns_, starts.data(), stream_);
            even =
                even && most_of_a_walk(starts.data(), columns_, not_finite_.data(), stream_) <= most_points;
        };
        sort_and_place(sort, [&](bool of_sources) {
            auto& out = of_sources ? grid.sources : grid.targets;
            (of_sources ? sources_ : targets_).place_in_columns(placing_, out.data(), stream_);
        });
        return even;
    }

    void prepare_pairs() {
        lattice_.lattice =
            LatticeOnGpu(GaussLattice(extent_, frame_, problem_.dimension, shape_.side), frame_);
        make_room(lattice_.sources, static_cast<std::size_t>(problem_.sources));
        if (!problem_.self) make_room(lattice_.targets, static_cast<std::size_t>(problem_.targets));
        sort_and_place([&](SortedGaussPoints& points) { points.sort_by_boxes(lattice_.lattice, stream_); },
                       [&](bool of_sources) {
                           auto& out = of_sources ? lattice_.sources : lattice_.targets;
                           (of_sources ? sources_ : targets_).place(lattice_.lattice, out.data(), stream_);
                       });
    }

    void read_strengths(const ConstArrayView& view) {
        make_room(strengths_, std::max<std::size_t>(1, static_cast<std::size_t>(problem_.sources)));
        const auto result =
            transfers_.read(view, problem_.sources, 1, strengths_.data(), "strengths", stream_);
        if (result.bad >= 0) refuse_strength("strengths", result.bad, result.bad_value);
        exponent_ = problem_.sources == 0
                        ? 0
                        : strength_exponent(std::max(-result.ranges[0].low, result.ranges[0].high));
    }

    /// One vector of strengths.
    void execute_one(const ConstArrayView& strengths, const SumOutputs& outputs, SumReport& report) {
        const auto begin = Clock::now();
        read_strengths(strengths);
        const int d = problem_.dimension;
        potential_at_ = outputs.potential ? place_of(outputs.potential, potential_, 1) : nullptr;
        gradient_at_ = outputs.gradient ? place_of(outputs.gradient, gradient_, d) : nullptr;
        report.prepare_seconds += seconds_between(begin, Clock::now());
        if (potential_at_ == nullptr && gradient_at_ == nullptr) return;
        if (problem_.targets > 0) compute(report);
        if (potential_at_ != nullptr && potential_at_ == potential_.data())
            transfers_.write(potential_at_, outputs.potential, problem_.targets, 1, stream_);
        if (gradient_at_ != nullptr && gradient_at_ == gradient_.data())
            transfers_.write(gradient_at_, outputs.gradient, problem_.targets, d, stream_);
    }

    void compute(SumReport& report) {
        check(cudaMemsetAsync(not_finite_.data(), 0, sizeof(int), stream_), "clearing a flag");
        PassTimer timer(stream_);
        if (shape_.rule == nullptr)
            run_pairs(timer);
        else if (shape_.wide)
            run_grid(wide_, timer);
        else
            run_grid(narrow_, timer);
        int flag = 0;
        copy(&flag, not_finite_.data(), 1, stream_);
        check(cudaStreamSynchronize(stream_), "waiting for the GPU");
        report.compute_seconds += timer.total();
        for (auto& pass : timer.seconds()) add_pass(report, std::move(pass));
        if (flag != 0)
            refuse_gauss_row(std::min(first_row_not_finite(potential_at_, 1),
                                      first_row_not_finite(gradient_at_, problem_.dimension)));
    }

    static void add_pass(SumReport& report, PassTime pass) {
        const auto known = std::find_if(report.passes.begin(), report.passes.end(),
                                        [&](const PassTime& other) { return other.name == pass.name; });
        if (known == report.passes.end())
            report.passes.push_back(std::move(pass));
        else
            known->seconds += pass.seconds;
    }

    [[nodiscard]] StrengthsOnGpu strengths_of_sources() const {
        return {strengths_.data(), sources_.from(), exponent_};
    }

    /// Each column looks at the points about it: their strengths are brought into order before.
    template <class Real>
    void collect(OnGrid<Real>& grid) {
        make_room(grid.strengths, static_cast<std::size_t>(problem_.sources));
        order_strengths(strengths_.data(), sources_.from(), source_count(), exponent_, grid.strengths.data(),
                        stream_);
        collect_points(CollectTask<Real>{{grid.sources.data(), source_starts_.data(), columns_},
                                         grid.strengths.data(),
                                         &*window_,
                                         placing_,
                                         grid.first.data()},
                       stream_);
    }

    template <class Real>
    void spread(OnGrid<Real>& grid, int exponent) {
        check(cudaMemsetAsync(spread_.data(), 0,
                              static_cast<std::size_t>(placing_.numbers()) * sizeof(unsigned long long),
                              stream_),
              "clearing a grid");
        spread_points(SpreadTask<Real>{{grid.sources.data(), source_count()},
                                       strengths_of_sources(),
                                       &*window_,
                                       placing_,
                                       exponent,
                                       spread_.data()},
                      stream_);
    }

    template <class Real>
    void run_grid(OnGrid<Real>& grid, PassTimer& timer) {
        const int n = source_count();
        // |Σ q| < 2^bits, and a sum of whole multiples stays below 2^62
        const int exponent = 62 - static_cast<int>(std::bit_width(static_cast<unsigned>(n)));
        if (shape_.sparse)
            collect(grid);
        else
            spread(grid, exponent);
        timer.mark("spread", stream_);
        const Real* folded =
            fold_grid(FoldTask<Real>{shape_.sparse ? nullptr : spread_.data(), exponent, placing_,
                                     shape_.rule, grid.first.data(), grid.second.data()},
                      stream_);
        timer.mark("fold", stream_);
        const auto& there = problem_.self ? grid.sources : grid.targets;
        const ValueTask<Real> values{.targets = {there.data(), target_count()},
                                     .from = targets().from(),
                                     .own =
                                         problem_.without_own() ? strengths_of_sources() : StrengthsOnGpu{},
                                     .window = &*window_,
                                     .placing = placing_,
                                     .grid = folded,
                                     .potential_factor = ResultFactor(-exponent_),
                                     .gradient_factor = ResultFactor(frame_.exponent - exponent_),
                                     .potential = potential_at_,
                                     .gradient = gradient_at_,
                                     .not_finite = not_finite_.data()};
        if (shape_.sparse)
            take_values_of_columns(
                values,
                PointsInColumns<Real>{there.data(), (problem_.self ? source_starts_ : target_starts_).data(),
                                      columns_},
                stream_);
        else
            take_values(values, stream_);
        timer.mark("values", stream_);
    }

    void run_pairs(PassTimer& timer) {
        order_strengths(strengths_.data(), sources_.from(), source_count(), exponent_,
                        lattice_.sources.data(), stream_);
        check(cudaMemsetAsync(lattice_.pairs.data(), 0, sizeof(unsigned long long), stream_),
              "clearing a count");
        timer.mark("strengths", stream_);
        const CellPairTask task{.lattice = lattice_.lattice,
                                .sources = lattice_.sources.data(),
                                .source_keys = sources_.keys(),
                                .source_count = source_count(),
                                .targets = (problem_.self ? lattice_.sources : lattice_.targets).data(),
                                .from = targets().from(),
                                .target_count = target_count(),
                                .without_own = problem_.without_own(),
                                .cutoff = shape_.cutoff,
                                .sigma = frame_.sigma,
                                .potential_exponent = -exponent_,
                                .gradient_exponent = frame_.exponent - exponent_,
                                .potential = potential_at_,
                                .gradient = gradient_at_,
                                .not_finite = not_finite_.data(),
                                .pairs = lattice_.pairs.data()};
        if (shape_.wide)
            add_cell_pairs<double>(task, stream_);
        else
            add_cell_pairs<float>(task, stream_);
        timer.mark("pairs", stream_);
        copy(&near_pairs_, lattice_.pairs.data(), 1, stream_);
    }

    void describe(SumReport& report) const {
        report.device = {.kind = DeviceKind::cuda, .gpus = {device_}};
        report.precision = shape_.wide ? Precision::float64 : Precision::float32;
        if (shape_.rule != nullptr)
            report.fgt = {.width = shape_.rule->width, .grid_numbers = placing_.numbers()};
        else
            report.fgt = {.cutoff = shape_.cutoff / frame_.sigma,
                          .cells = 0,
                          .near_pairs = static_cast<std::int64_t>(near_pairs_)};
        report.fgt.sort_seconds = sort_seconds_;
        report.fgt.order_seconds = order_seconds_;
    }

    double aim_; ///< the error that shapes are chosen for
    bool may_grid_ = true, prepared_ = false;
    GaussExtent extent_;
    GaussFrame frame_;
    GpuGaussShape shape_;
    SortedGaussPoints sources_, targets_;
    DeviceArray<double> source_rows_, target_rows_, strengths_; ///< as the caller gave them, in double
    std::optional<GridWindow> window_;
    GridPlacing placing_;
    DeviceArray<unsigned long long> spread_;
    GridColumns columns_;
    DeviceArray<std::int32_t> source_starts_, target_starts_; ///< of planes of the columns
    OnGrid<float> narrow_;
    OnGrid<double> wide_;
    OnLattice lattice_;
    unsigned long long near_pairs_ = 0;
    double sort_seconds_ = 0.0, order_seconds_ = 0.0;
    int exponent_ = 0;                         ///< of the strengths, as a power of two
    DeviceArray<double> potential_, gradient_; ///< where the caller's arrays are elsewhere, or strided
    double *potential_at_ = nullptr, *gradient_at_ = nullptr;
};

} // namespace

std::unique_ptr<PreparedSum> make_gpu_fgt(const SumProblem& problem, const SumOptions& options, int device) {
    const DeviceScope scope(device); // events are of the GPU that is current when they are made
    return std::make_unique<FgtOnGpu>(problem, options, device);
}

} // namespace farfield::cuda
