#include "sums/fmm/fmm_sum.h"

#include "backend/comm/communicator_access.h"
#include "backend/simd/isa.h"
#include "backend/threads/parallel.h"
#include "base/stopwatch.h"
#include "sums/costs/cost_file.h"
#include "sums/costs/threads.h"
#include "sums/fmm/common/pass_times.h"
#include "sums/fmm/costs.h"
#include "sums/fmm/periodic_level.h"
#include "sums/fmm/softened.h"
#include "sums/kernels/kernel.h"
#include "sums/points/float_range.h"
#include "sums/points/over_ranks.h"
#include "sums/points/power_of_two.h"

#include <farfield/error.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace farfield {
namespace {

constexpr double work_of_a_pair = 8.0; ///< in multiply-adds, for the share of the work done

/// Potential, field and Hessian of `rows` rows, one array after the other, where results are wanted.
TileSums places_of_sums(double* values, std::size_t rows, const DirectResults& results) {
    TileSums sums;
    if (results.potential != nullptr) sums.potential = values;
    for (std::size_t axis = 0; axis < 3 && results.field != nullptr; ++axis)
        sums.field[axis] = values + (axis + 1) * rows;
    for (std::size_t k = 0; k < 6 && results.hessian != nullptr; ++k)
        sums.hessian[k] = values + (k + 4) * rows;
    return sums;
}

std::size_t numbers_of_sums(std::size_t rows, const DirectResults& results) {
    return (results.hessian != nullptr ? 10 : 4) * rows;
}

} // namespace

FmmSum::FmmSum(const SumProblem& problem, const SumOptions& options, const TreeBox& box)
    : problem_(problem), options_(options), box_(box),
      shape_(fmm_shape(problem, options, cost_table_in_use().table)),
      share_(CommunicatorAccess::transport(options.communicator)),
      own_points_(OwnPoints::of(options.communicator)) {
    options_.isa = resolve_isa(options.isa);
    if (options.threads > 0) return;
    const auto& table = cost_table_in_use().table;
    options_.threads = 1;
    const double divided =
        fmm_seconds(problem, options_, {}, table) - cost_of(table, fmm_cost::cpu_fixed_seconds);
    options_.threads = threads_for(0, divided, table);
}

void FmmSum::set_points(RawVector<double> sources, RawVector<double> targets) {
    std::array<Extent, 3> box; // of a periodic tree, the same however points lie in it
    for (std::size_t axis = 0; axis < 3; ++axis) box[axis] = {box_.low, box_.low + problem_.period[axis]};
    const bool in_box = problem_.is_periodic();
    if (own_points_) {
        auto& ranks = *share_.ranks();
        frame_ = in_box ? choose_frame(box, options_.softening)
                        : frame_over_ranks(ranks, sources, targets, options_.softening, options_.threads);
        require_float_range_over_ranks(ranks, sources, targets, frame_, options_.softening,
                                       options_.precision, options_.threads);
    } else {
        frame_ = in_box ? choose_frame(box, options_.softening)
                        : choose_frame(sources, targets, options_.softening, options_.threads);
        require_float_range(sources, targets, frame_, options_.softening, options_.precision,
                            options_.threads);
    }
    source_points_ = in_frame(frame_, std::move(sources), options_.threads);
    target_points_ = in_frame(frame_, std::move(targets), options_.threads);
    softening_ = std::ldexp(options_.softening, frame_.exponent);
    if (softening_ > 0.0) fit_shape();
    orders_ = {};
    prepare();
}

std::array<Extent, 3> FmmSum::extents() const {
    return extents_of(own_points_ ? share_.ranks() : nullptr, source_points_, target_points_,
                      options_.threads);
}

// What cells cost depends on their width beside ε.
void FmmSum::fit_shape() {
    const auto ranges = extents();
    shape_ = fmm_shape(problem_, options_, cost_table_in_use().table, shape_.order.order,
                       softening_ / longest_side(ranges));
}

template <class T>
void FmmSum::make_far_field(FarField<T>& far) {
    const int threads = options_.threads;
    const LeafGrid finest{shape_.tree.coarse, tree_->levels() - 1, 3, tree_->is_periodic()};
    if (!finest.has_far_cells(shape_.order.separation)) return; // all cells are neighbours
    int harmonic_levels = tree_->levels();
    if (softening_ > 0.0) {
        const auto made = softened_operators<T>(
            {.order = shape_.order, .softening = softening_ / tree_->width(0), .levels = tree_->levels()},
            threads);
        const std::shared_ptr<const FmmOperators<T>> polynomials(made, &made->polynomials);
        far.softened.emplace(*tree_, lists_, share_, polynomials, tree_->levels(), options_.isa, threads);
        if (!far.softened->translates()) far.softened.reset();
        harmonic_levels = made->harmonic_levels;
    }
    // images of the box go by harmonics, also where polynomials carry the kernel whole between its cells
    const bool serves_images = tree_->is_periodic() && box_.with_far_images && tree_->levels() > 0;
    if (serves_images) harmonic_levels = std::max(harmonic_levels, 1);
    if (harmonic_levels <= 0) return;
    std::shared_ptr<const ImageOperator> images;
    if (tree_->is_periodic() && box_.with_far_images)
        images = image_operator(periodic_level(shape_.tree.coarse, shape_.order.separation),
                                shape_.order.order, threads, share_.ranks());
    far.harmonics.emplace(*tree_, lists_, share_, fmm_operators<T>(shape_.order, threads), harmonic_levels,
                          options_.isa, threads, std::move(images));
}

void FmmSum::prepare() {
    const int threads = options_.threads;
    shape_ = comm::from_rank(share_.ranks(), shape_); // hosts may have cost tables of their own
    if (problem_.is_periodic()) {
        shape_.tree.period = std::ldexp(problem_.period[0], frame_.exponent);
        shape_.tree.low = std::ldexp(box_.low, frame_.exponent);
    }
    float_far_.clear(); // they refer to the tree
    double_far_.clear();
    tree_.emplace(source_points_, target_points_, problem_.self, shape_.tree, threads,
                  own_points_ ? share_.ranks() : nullptr, share_.share_begins());
    const auto rates_of_leaves = [&] {
        const auto rates =
            fmm_rates(cost_table_in_use().table, problem_, options_, shape_.order, shape_.wide);
        return LeafRates{.seconds_a_pair = rates.seconds_a_pair,
                         .seconds_a_cell = rates.seconds_a_cell,
                         .seconds_a_point = rates.seconds_a_point};
    };
    share_.divide(*tree_, lists_, shape_.few, rates_of_leaves, threads);
    if (own_points_) own_points_->take(share_, *tree_, lists_, source_points_, target_points_, threads);
    near_.make(*tree_, lists_, threads, share_.near_share());
    images_.make(*tree_, lists_, share_.own_leaves(), threads);
    image_pairs_ = images_.pairs();
    image_points_ = std::ssize(images_.points()[0]);
    for (auto* count : {&image_pairs_, &image_points_})
        if (share_.ranks() != nullptr) *count = comm::sum_of_ranks(*share_.ranks(), *count);
    if (options_.precision == Precision::float64)
        set_near_points(double_sources_, double_targets_, double_images_);
    else
        set_near_points(float_sources_, float_targets_, float_images_);
    if (shape_.wide)
        make_far_field(double_far_);
    else
        make_far_field(float_far_);
    share_.forget_whole();
}

template <class T>
void FmmSum::set_near_points(PreparedPoints<T>& sources, PreparedPoints<T>& targets,
                             PreparedPoints<T>& images) {
    const bool with_low = options_.precision == Precision::mixed;
    sources.set(tree_->sources().x, with_low, options_.threads);
    if (!problem_.self) targets.set(tree_->targets().x, with_low, options_.threads);
    if (tree_->is_periodic()) images.set(images_.points(), with_low, options_.threads);
}

BlockSumTask FmmSum::near_task(const TilePoints& targets, const TilePoints& sources, const TileSums& sums,
                               int threads, WorkWatch& watch) const {
    return {.precision = options_.precision,
            .outputs = static_cast<LoopOutputs>((sums.potential != nullptr ? potential_only : 0) |
                                                (sums.field[0] != nullptr ? field_only : 0) |
                                                (sums.hessian[0] != nullptr ? hessian_too : 0)),
            .targets = targets,
            .sources = sources,
            .softening = softening_,
            .sums = sums,
            .isa = options_.isa,
            .threads = threads,
            .watch = &watch,
            .ranks = share_.ranks(),
            .rank_blocks = share_.first_leaves()};
}

bool FmmSum::refine(double error) {
    if (options_.guaranteed) return false; // bounds decide
    if (options_.order > 0) return false;
    const auto order = next_order(orders_, shape_, error, problem_.tolerance);
    if (!order) return false;
    shape_ = fmm_shape(problem_, options_, cost_table_in_use().table, *order);
    if (softening_ > 0.0) fit_shape();
    prepare();
    return true;
}

template <class T>
std::optional<MutualBlocks::Begun> FmmSum::near_field(PreparedPoints<T>& sources, PreparedPoints<T>& targets,
                                                      const TileSums& sums, SumReport& report,
                                                      WorkWatch& watch) {
    Stopwatch clock;
    sources.set_strengths(strengths_, 0, report.threads);
    sources.set_dipoles(dipoles_, 0);
    const auto task = near_task(problem_.self ? sources.view() : targets.view(), sources.view(), sums,
                                report.threads, watch);
    auto begun = near_.begin(task);
    report.passes.push_back({"P2P", clock.lap()});
    return begun;
}

template <class T>
void FmmSum::add_near_images(const PreparedPoints<T>& sources, const PreparedPoints<T>& targets,
                             PreparedPoints<T>& images, const TileSums& sums, SumReport& report,
                             WorkWatch& watch) {
    Stopwatch clock;
    images.set_strengths(images_.strengths(strengths_), 0, report.threads);
    images_.add(near_task(problem_.self ? sources.view() : targets.view(), images.view(), sums,
                          report.threads, watch));
    add_seconds(report, "near images", clock.lap());
}

template <class T>
void FmmSum::FarField<T>::begin(std::span<const double> strengths, std::span<const double> dipoles,
                                SumReport& report, WorkWatch& watch) {
    Stopwatch clock;
    for (auto* far : both()) {
        if (far == nullptr) continue;
        far->set_watch(&watch);
        far->form_multipoles(strengths, dipoles);
        add_pass(report, *far, "P2M", clock.lap());
        far->gather_multipoles();
        add_pass(report, *far, "M2M", clock.lap());
    }
}

template <class T>
void FmmSum::FarField<T>::translate(SumReport& report) {
    Stopwatch clock;
    for (auto* far : both()) {
        if (far == nullptr) continue;
        far->receive_multipoles();
        add_pass(report, *far, "M2M", clock.lap());
        far->translate();
        add_pass(report, *far, "M2L", clock.lap());
        far->spread_locals();
        add_pass(report, *far, "L2L", clock.lap());
    }
}

template <class T>
void FmmSum::FarField<T>::evaluate(const TileSums& sums, SumReport& report) {
    Stopwatch clock;
    for (auto* far : both()) {
        if (far == nullptr) continue;
        far->evaluate(sums);
        add_pass(report, *far, "L2P", clock.lap());
    }
}

// Those of softened kernels are told as one.
template <class T>
void FmmSum::FarField<T>::add_pass(SumReport& report, const FmmPasses<T>& far, const char* name,
                                   double seconds) const {
    if (softened && &far == &*softened) name = "softening";
    add_seconds(report, name, seconds);
}

// Ranks send each other multipole expansions while near pairs are summed, and what they summed for each other
// while expansions are translated: they wait for each other only where one has much more to do in all.
void FmmSum::compute_sums(const TileSums& sums, SumReport& report, const SumHooks& hooks) {
    const double far_work = shape_.wide ? double_far_.work() : float_far_.work();
    WorkWatch watch(
        (far_work + work_of_a_pair * (near_.computed_pairs() + static_cast<double>(image_pairs_))) *
            share_.own_part(),
        hooks.progress, hooks.stop_requested);
    const auto far_field = [&](const auto& call) {
        if (shape_.wide)
            call(double_far_);
        else
            call(float_far_);
    };
    far_field([&](auto& far) { far.begin(strengths_, dipoles_, report, watch); });
    auto begun = options_.precision == Precision::float64
                     ? near_field(double_sources_, double_targets_, sums, report, watch)
                     : near_field(float_sources_, float_targets_, sums, report, watch);
    far_field([&](auto& far) { far.translate(report); });
    if (begun) {
        Stopwatch clock;
        near_.end(*begun);
        begun.reset();
        add_seconds(report, "P2P", clock.lap());
    }
    if (images_.pairs() > 0) {
        if (options_.precision == Precision::float64)
            add_near_images(double_sources_, double_targets_, double_images_, sums, report, watch);
        else
            add_near_images(float_sources_, float_targets_, float_images_, sums, report, watch);
    }
    far_field([&](auto& far) { far.evaluate(sums, report); });
    if (share_.on_any(watch.stopped())) throw Interrupted("the sum was given up before its end");
    if (!own_points_) share_.gather_sums(sums);
}

void FmmSum::compute(std::span<const double> strengths, std::span<const double> dipoles,
                     const DirectResults& results, SumReport& report, const SumHooks& hooks) {
    if (options_.guaranteed)
        compute_guaranteed(strengths, dipoles, results, report, hooks);
    else
        compute_at_order(strengths, dipoles, results, report, hooks);
}

void FmmSum::compute_at_order(std::span<const double> strengths, std::span<const double> dipoles,
                              const DirectResults& results, SumReport& report, const SumHooks& hooks) {
    Stopwatch clock;
    report.isa = options_.isa;
    report.device = {.kind = DeviceKind::cpu};
    report.threads = options_.threads;
    report.fmm = {.order = shape_.order.order,
                  .m2l = shape_.order.m2l,
                  .separation = shape_.order.separation,
                  .coarse = shape_.tree.coarse,
                  .levels = tree_->levels(),
                  .cells = tree_->count_cells(),
                  .leaves = share_.count_leaves(),
                  .near_pairs = near_.pairs() + image_pairs_,
                  .multiply_adds = shape_.wide ? double_far_.work() : float_far_.work()};
    report.lattice.near_pairs = image_pairs_;
    report.lattice.rim_images = image_points_;
    const int exponent = own_points_ ? strength_exponent_over_ranks(*share_.ranks(), strengths, dipoles,
                                                                    frame_.exponent, report.threads)
                                     : strength_exponent(strengths, dipoles, frame_.exponent, report.threads);
    strength_exponent_ = exponent;
    bring_strengths(strengths, dipoles, exponent);
    const auto rows =
        static_cast<std::size_t>(own_points_ ? own_points_->targets().rows() : problem_.targets);
    const auto numbers = numbers_of_sums(rows, results);
    double* const values = sums_.take(numbers);
    const auto sums = places_of_sums(values, rows, results);
    report.prepare_seconds = clock.lap();
    if (tree_->source_count() == 0)
        std::fill_n(values, numbers, 0.0);
    else if (problem_.targets > 0)
        compute_sums(sums, report, hooks);
    report.compute_seconds = clock.lap();
    if (own_points_)
        write_own_results(sums, strengths, dipoles, results, report, hooks);
    else
        write_results(sums, results, report, hooks);
    report.finish_seconds = clock.lap();
}

void FmmSum::bring_strengths(std::span<const double> strengths, std::span<const double> dipoles,
                             int exponent) {
    const PowerOfTwo scale(exponent), scale_of_dipoles(exponent + frame_.exponent);
    if (own_points_) {
        const auto& sources = own_points_->sources();
        strengths_.resize(static_cast<std::size_t>(sources.rows()));
        sources.bring(strengths, 1, scale, strengths_.data());
        const bool any = comm::any_rank(*share_.ranks(), !dipoles.empty());
        dipoles_.resize(any ? 3 * strengths_.size() : 0);
        if (any) sources.bring(dipoles, 3, scale_of_dipoles, dipoles_.data());
        return;
    }
    const auto& from = tree_->sources().from;
    strengths_.resize(from.size());
    parallel_parts(options_.threads, from.size(), [&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i)
            strengths_[i] = scale.product(strengths[static_cast<std::size_t>(from[i])]);
    });
    dipoles_.resize(dipoles.size());
    for (std::size_t i = 0; i < dipoles.size(); ++i)
        dipoles_[i] = scale_of_dipoles.product(dipoles[3 * static_cast<std::size_t>(from[i / 3]) + i % 3]);
}

// Sums go back to the ranks that gave the points.
void FmmSum::write_own_results(const TileSums& sums, std::span<const double> strengths,
                               std::span<const double> dipoles, const DirectResults& results,
                               SumReport& report, const SumHooks& hooks) {
    const auto& targets = own_points_->targets();
    const auto& order = targets.order();
    const auto rows = std::max<std::size_t>(order.size(), 1); // places of no rows are places, too
    double* const values = given_sums_.take(numbers_of_sums(rows, results));
    const auto given = places_of_sums(values, rows, results);
    targets.bring_back(sums, given);
    auto ordered = sums_to_write(given, hooks);
    ordered.target_from = order;
    ordered.numbers = own_points_->numbers();
    if (problem_.is_periodic())
        is_finite_ = !share_.on_any(!write_rows(ordered, results, report.threads));
    else
        write_on_ranks(*share_.ranks(), ordered, strengths, dipoles, results, report);
}

OrderedSums FmmSum::sums_to_write(const TileSums& sums, const SumHooks& hooks) const {
    return {.problem = problem_,
            .frame = frame_,
            .softening = softening_,
            .precision = options_.precision,
            .source_points = source_points_,
            .target_points = target_points_,
            .source_from = {},
            .target_from = {},
            .strengths = {},
            .strength_exponent = strength_exponent_,
            .sums = sums,
            .stop_requested = hooks.stop_requested};
}

void FmmSum::write_results(const TileSums& sums, const DirectResults& results, SumReport& report,
                           const SumHooks& hooks) {
    auto ordered = sums_to_write(sums, hooks);
    ordered.source_from = tree_->sources().from;
    ordered.target_from = tree_->targets().from;
    ordered.strengths = strengths_;
    ordered.dipoles = dipoles_;
    if (problem_.is_periodic())
        is_finite_ = !share_.on_any(!write_rows(ordered, results, report.threads));
    else
        write_ordered(ordered, results, report);
}

} // namespace farfield
