#include "sums/gauss/grid/grid.h"

#include "backend/comm/transport.h"
#include "backend/threads/parallel.h"
#include "base/stopwatch.h"
#include "sums/direct/cpu/isa_function.h"
#include "sums/gauss/boxes/lattice.h"
#include "sums/gauss/grid/placing.h"

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

constexpr std::int64_t overhang = 16; ///< numbers that a row of taps may reach beyond its points
constexpr std::int64_t line = 8;      ///< numbers of a cache line
constexpr std::int64_t points_of_a_part = 4096;
constexpr std::int64_t near_numbers = 1 << 16; ///< that stay in a core's second cache, whatever points touch

/// Rows of 1 to 4 and of 9 to 12 taps fill vectors of four numbers better than those of eight.
Isa isa_of_rows(Isa isa, int width) {
    const bool half_empty = (width - 1) / 4 % 2 == 0;
    return isa == Isa::avx512 && half_empty && is_available(Isa::avx2) ? Isa::avx2 : isa;
}

} // namespace

double grid_numbers(const GridRule& rule, const GaussExtent& extent, const GaussFrame& frame, int dimension) {
    double out = 1.0;
    const double spacing = frame.sigma / rule.ratio;
    for (std::size_t k = 0; k < static_cast<std::size_t>(dimension); ++k)
        out *= std::ldexp(extent.high[k] - extent.low[k], frame.exponent) / spacing + rule.width +
               (k == 0 ? 10.0 : 3.0);
    return out;
}

namespace {

struct GridAxes {
    std::array<std::int64_t, most_dimensions> base{}, length{}, stride{};
    std::int64_t numbers = 1;
};

// Lines along the first axis of several begin at whole cache lines.
GridAxes grid_axes(const GridRule& rule, const GaussExtent& extent, const GaussFrame& frame, int dimension) {
    GridAxes out;
    for (std::size_t k = 0; k < static_cast<std::size_t>(dimension); ++k) {
        const auto axis = grid_axis(rule, extent, frame, k);
        out.base[k] = axis.base;
        out.length[k] = axis.length;
        out.stride[k] = out.numbers;
        out.numbers *= k == 0 && dimension > 1 ? (axis.length + line - 1) / line * line : axis.length;
    }
    return out;
}

} // namespace

bool grid_sorts_points(const GridRule& rule, const GaussExtent& extent, const GaussFrame& frame,
                       int dimension) {
    return grid_axes(rule, extent, frame, dimension).numbers > near_numbers;
}

GaussLattice grid_boxes(const GridRule& rule, const GaussExtent& extent, const GaussFrame& frame,
                        int dimension) {
    constexpr double side = 4.0; // grid points along an axis whose taps share cache lines
    return {extent, frame, dimension, side * frame.sigma / rule.ratio};
}

GaussGrid::GaussGrid(const SumProblem& problem, Isa isa, int threads, comm::Transport* ranks)
    : problem_(problem), ranks_(ranks), isa_(isa), isa_of_rows_(isa), threads_(threads),
      rule_(grid_rules().front()) {}

void GaussGrid::set_points(const GaussShape& shape, const GaussPointSets& points) {
    set_grid(shape, points);
    place_points(points);
    find_parts();
    if (ranks_ != nullptr) divide_planes();
}

void GaussGrid::set_shape(const GaussShape& shape, const GaussPointSets& points) {
    const bool are_sorted = sorts();
    set_grid(shape, points);
    if (sorts() && !are_sorted) place_points(points);
    find_parts();
    if (ranks_ != nullptr) divide_planes();
}

bool GaussGrid::sorts() const { return numbers() > near_numbers; }

void GaussGrid::set_grid(const GaussShape& shape, const GaussPointSets& points) {
    rule_ = *shape.rule;
    isa_of_rows_ = isa_of_rows(isa_, rule_.width);
    window_.assign(1, GridWindow(rule_));
    set_geometry(points.extent, points.frame);
}

void GaussGrid::place_points(const GaussPointSets& points) {
    const auto& frame = points.frame;
    const auto boxes = grid_boxes(rule_, points.extent, frame, problem_.dimension);
    const auto order = [&](std::span<const double> rows) {
        return sorts() ? boxes.sorted(rows, frame, threads_).from : RawVector<std::int32_t>();
    };
    source_order_ = order(points.sources);
    sources_.set(points.sources, problem_.dimension, frame, source_order_, false, threads_);
    if (!problem_.self) {
        target_order_ = order(points.targets);
        targets_.set(points.targets, problem_.dimension, frame, target_order_, false, threads_);
    }
}

void GaussGrid::set_geometry(const GaussExtent& extent, const GaussFrame& frame) {
    const auto d = static_cast<std::size_t>(problem_.dimension);
    spacing_ = frame.sigma / rule_.ratio;
    const auto axes = grid_axes(rule_, extent, frame, problem_.dimension);
    base_ = axes.base;
    length_ = axes.length;
    stride_ = axes.stride;
    plane_ = stride_[d - 1];
    planes_ = length_[d - 1];
    layers_.assign(1, 0);
    for (std::size_t k = 2; k < d; ++k) {
        const auto inner = layers_;
        layers_.clear();
        for (std::int64_t tap = 0; tap < rule_.width; ++tap)
            for (const auto layer : inner) layers_.push_back(layer + tap * stride_[k]);
    }
}

std::size_t GaussGrid::scratch_size() const {
    return static_cast<std::size_t>(problem_.dimension) * layers_.size();
}

GridPlaces GaussGrid::places(const GaussPoints<double>& points, double* scratch) const {
    const auto& window = window_.front();
    GridPlaces out{.dimension = problem_.dimension,
                   .width = window.width,
                   .value = window.value.data(),
                   .slope = window.slope.data(),
                   .inverse_spacing = 1.0 / spacing_,
                   .layers = layers_.data(),
                   .layer_count = static_cast<std::int64_t>(layers_.size()),
                   .scratch = scratch};
    split_spacing(spacing_, out.spacing);
    const auto view = points.view();
    for (std::size_t k = 0; k < static_cast<std::size_t>(problem_.dimension); ++k) {
        out.x[k] = static_cast<const double*>(view.high[k]);
        out.base[k] = base_[k];
        out.stride[k] = stride_[k];
    }
    return out;
}

std::size_t GaussGrid::part_size(const Part& part) const {
    return static_cast<std::size_t>(((part.high - part.low) * plane_ + overhang + line - 1) / line * line);
}

// As many parts as have their memory about that of the grid, or 16 MB.
void GaussGrid::find_parts() {
    const auto n = problem_.sources;
    const auto by_planes = planes_ / (std::int64_t{2} * rule_.width);
    const auto by_memory = (std::int64_t{1} << 21) / (numbers() + 1);
    const auto by_points = (n + points_of_a_part - 1) / points_of_a_part;
    const auto count = std::clamp<std::int64_t>(
        std::max(by_planes, by_memory), 1, std::min<std::int64_t>(64, std::max<std::int64_t>(1, by_points)));
    parts_.assign(n > 0 ? static_cast<std::size_t>(count) : 0, {});
    parallel_for(threads_, static_cast<std::int64_t>(parts_.size()), [&](std::int64_t k) {
        auto& part = parts_[static_cast<std::size_t>(k)];
        part = {.begin = n * k / count, .end = n * (k + 1) / count, .low = 0, .high = 0, .place = 0};
        const auto planes = touched(sources_, part.begin, part.end);
        part.low = planes.begin;
        part.high = planes.end;
    });
    std::size_t place = 0;
    for (auto& part : parts_) {
        part.place = place;
        place += part_size(part);
    }
    spread_ = {0, planes_};
}

PlaneRange GaussGrid::touched(const GaussPoints<double>& points, std::int64_t begin, std::int64_t end) const {
    if (begin == end) return {};
    const auto last = last_axis();
    const auto* x = static_cast<const double*>(points.view().high[last]);
    const auto range = std::minmax_element(x + begin, x + end);
    const auto first = [&](double at) {
        return static_cast<std::int64_t>(std::ceil(at / spacing_ - 0.5 * rule_.width)) - base_[last];
    };
    return {std::max<std::int64_t>(0, first(*range.first) - 1),
            std::min(planes_, first(*range.second) + rule_.width + 1)};
}

void GaussGrid::divide_planes() {
    spread_ = touched(sources_, 0, problem_.sources);
    const auto at_targets = problem_.self ? spread_ : touched(targets_, 0, problem_.targets);
    plan_.emplace(planes_, comm::all_values(*ranks_, TouchedPlanes{spread_, at_targets}), rule_.reach);
}

GridOfRanks GaussGrid::of_ranks() {
    return {.ranks = ranks_, .plan = &*plan_, .numbers = grid_.take(1), .plane = plane_, .threads = threads_};
}

double* GaussGrid::parts() {
    return apart_.take(parts_.empty() ? 0 : parts_.back().place + part_size(parts_.back()));
}

void GaussGrid::spread(const double* strengths, WorkWatch& watch) {
    const auto last = last_axis();
    double* const apart = parts();
    const auto function = FF_ISA_FUNCTION(ff_grid_spread, isa_of_rows_);
    parallel_for(threads_, static_cast<std::int64_t>(parts_.size()), [&](std::int64_t number) {
        if (watch.stopped()) return;
        const auto& part = parts_[static_cast<std::size_t>(number)];
        double* grid = apart + part.place;
        std::fill_n(grid, (part.high - part.low) * plane_ + overhang, 0.0);
        std::vector<double> scratch(scratch_size());
        auto at = places(sources_, scratch.data());
        at.base[last] += part.low;
        for (auto begin = part.begin; begin < part.end && !watch.stopped(); begin += points_of_a_part) {
            const auto end = std::min(part.end, begin + points_of_a_part);
            const GridSpreadTask task{
                .places = at, .strengths = strengths, .begin = begin, .end = end, .grid = grid};
            function(&task);
            watch.done(static_cast<double>(end - begin) * static_cast<double>(layers_.size()));
        }
    });
    if (!watch.stopped()) merge();
}

// Each plane adds the parts in their order.
void GaussGrid::merge() {
    double* grid = grid_.take(static_cast<std::size_t>(numbers() + overhang));
    const double* apart = parts();
    std::fill_n(grid + numbers(), overhang, 0.0);
    const auto planes = std::max<std::int64_t>(1, (std::int64_t{1} << 15) / plane_);
    parallel_parts(
        threads_, static_cast<std::size_t>(spread_.size()),
        [&, from_plane = spread_.begin](std::size_t begin, std::size_t end) {
            const auto first = from_plane + static_cast<std::int64_t>(begin);
            const auto stop = from_plane + static_cast<std::int64_t>(end);
            std::fill_n(grid + first * plane_, (stop - first) * plane_, 0.0);
            for (const auto& part : parts_) {
                const auto low = std::max(first, part.low);
                const auto high = std::min(stop, part.high);
                if (low >= high) continue;
                const double* from = apart + part.place + (low - part.low) * plane_;
                double* to = grid + low * plane_;
                for (std::int64_t i = 0; i < (high - low) * plane_; ++i) to[i] += from[i];
            }
        },
        static_cast<std::size_t>(planes));
}

// Planes fold by themselves but along the last axis.
void GaussGrid::fold_all(WorkWatch& watch) {
    const int last = problem_.dimension - 1;
    const auto rank = static_cast<std::size_t>(ranks_ != nullptr ? ranks_->rank() : 0);
    const PlaneRange all{0, planes_};
    for (int axis = 0; axis < last && !watch.stopped(); ++axis)
        fold(axis, plan_ ? plan_->own(rank) : all, watch);
    if (comm::any_rank(ranks_, watch.stopped())) return;
    if (!plan_) return fold(last, all, watch);
    bring_wanted_planes(of_ranks());
    const auto planes = plan_->folded(rank);
    fold(last, planes, watch);
    std::fill_n(grid_.take(1) + planes.end * plane_, overhang, 0.0); // rows of taps may reach beyond
}

// Of the planes; along the last axis nothing lies beyond them.
void GaussGrid::fold(int axis, const PlaneRange& planes, WorkWatch& watch) {
    const auto k = static_cast<std::size_t>(axis);
    double* grid = grid_.take(1) + planes.begin * plane_;
    const auto stride = stride_[k];
    const auto length = k == last_axis() ? planes.size() : length_[k];
    const auto row = problem_.dimension > 1 ? stride_[1] : length; // numbers of a line along the first axis
    const auto block = axis == 0 ? row : stride * length;          // numbers that hold whole lines
    const auto lines = std::min(stride, grid_lines);
    const auto bundles = axis == 0 ? 1 : (stride + lines - 1) / lines;
    constexpr std::int64_t at_once = 16;
    const auto count = block > 0 ? planes.size() * plane_ / block * bundles : 0;
    const auto function = FF_ISA_FUNCTION(ff_grid_fold, isa_);
    parallel_for(threads_, (count + at_once - 1) / at_once, [&](std::int64_t task) {
        std::vector<double> scratch(
            static_cast<std::size_t>((length + std::int64_t{2} * rule_.reach + 1) * grid_lines));
        for (auto n = task * at_once; n < std::min(count, (task + 1) * at_once) && !watch.stopped(); ++n) {
            const auto in_block = n % bundles * lines;
            const GridFoldTask fold{.first = grid + n / bundles * block + in_block,
                                    .stride = stride,
                                    .length = length,
                                    .lines = std::min(lines, stride - in_block),
                                    .taps = rule_.taps.data(),
                                    .reach = rule_.reach,
                                    .scratch = scratch.data()};
            function(&fold);
        }
    });
}

void GaussGrid::take_values(std::int64_t vector, GaussSums& sums, WorkWatch& watch) {
    const auto function = FF_ISA_FUNCTION(ff_grid_value, isa_of_rows_);
    const double* grid = grid_.take(1);
    parallel_parts(
        threads_, static_cast<std::size_t>(problem_.targets),
        [&](std::size_t begin, std::size_t end) {
            if (watch.stopped()) return;
            std::vector<double> scratch(scratch_size());
            GridValueTask task{.places = places(problem_.self ? sources_ : targets_, scratch.data()),
                               .begin = static_cast<std::int64_t>(begin),
                               .end = static_cast<std::int64_t>(end),
                               .grid = grid,
                               .potential = sums.potential(vector)};
            for (int k = 0; k < problem_.dimension; ++k) task.gradient[k] = sums.gradient(vector, k);
            function(&task);
            watch.done(static_cast<double>(end - begin) * static_cast<double>(layers_.size()));
        },
        static_cast<std::size_t>(points_of_a_part));
}

double GaussGrid::work() const {
    return static_cast<double>(problem_.sources + problem_.targets) * static_cast<double>(layers_.size());
}

void GaussGrid::describe(SumReport& report) const {
    report.precision = Precision::float64;
    report.fgt = {.strategy = GaussStrategy::grid, .width = rule_.width, .grid_numbers = numbers()};
}

void GaussGrid::add(std::span<const double> strengths, std::int64_t vectors, int exponent, GaussSums& sums,
                    std::vector<PassTime>& passes, WorkWatch& watch) {
    const auto columns = gauss_strengths<double>(strengths, vectors, exponent, source_order_, threads_);
    passes = {{"spread", 0.0}, {"fold", 0.0}, {"values", 0.0}};
    for (std::int64_t v = 0; v < vectors; ++v) {
        Stopwatch clock;
        const auto& q = columns[static_cast<std::size_t>(v)];
        spread(q.data(), watch);
        if (comm::any_rank(ranks_, watch.stopped())) return;
        if (plan_) add_spread_planes(of_ranks());
        passes[0].seconds += clock.lap();
        fold_all(watch);
        passes[1].seconds += clock.lap();
        if (comm::any_rank(ranks_, watch.stopped())) return;
        take_values(v, sums, watch);
        double* potential = sums.potential(v);
        if (problem_.without_own() && potential != nullptr)
            for (std::int64_t i = 0; i < problem_.targets; ++i)
                potential[i] -= q[static_cast<std::size_t>(i)];
        passes[2].seconds += clock.lap();
    }
}

} // namespace farfield
