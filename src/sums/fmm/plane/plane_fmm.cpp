#include "sums/fmm/plane/plane_fmm.h"

#include "backend/comm/communicator_access.h"
#include "backend/simd/isa.h"
#include "backend/threads/parallel.h"
#include "base/arrays.h"
#include "base/stopwatch.h"
#include "sums/costs/cost_file.h"
#include "sums/costs/fmm_coefficients.h"
#include "sums/costs/threads.h"
#include "sums/fmm/common/pass_times.h"
#include "sums/points/float_range.h"
#include "sums/points/over_ranks.h"
#include "sums/points/plane.h"
#include "sums/points/power_of_two.h"
#include "sums/points/read.h"

#include <farfield/error.h>

#include <algorithm>
#include <utility>

namespace farfield {
namespace {

constexpr double work_of_a_log_pair = 20.0; ///< in multiply-adds, for the share of the work done

/// Potential and field of `rows` rows, one array after the other, where they are wanted.
TileSums places_of_sums(double* values, std::size_t rows, const SumOutputs& outputs, bool is_complex) {
    TileSums sums;
    if (outputs.potential) sums.potential = values;
    if (outputs.potential && is_complex) sums.potential_imaginary = values + rows;
    for (std::size_t axis = 0; axis < 2 && outputs.field; ++axis)
        sums.field[axis] = values + (2 + axis) * rows;
    return sums;
}

constexpr std::size_t numbers_of_sums(std::size_t rows) { return 4 * rows; }

} // namespace

PlaneFmm::PlaneFmm(const SumProblem& problem, const SumOptions& options)
    : problem_(problem), own_(problem), options_(options),
      shape_(plane_shape(problem, options, cost_table_in_use().table)),
      share_(CommunicatorAccess::transport(options.communicator)),
      own_points_(OwnPoints::of(options.communicator)) {
    options_.isa = resolve_isa(options.isa);
    if (options.threads > 0) return;
    const auto& table = cost_table_in_use().table;
    options_.threads = 1;
    const double divided =
        plane_seconds(problem, options_, table) - cost_of(table, fmm_cost::cpu_fixed_seconds);
    options_.threads = threads_for(0, divided, table);
}

void PlaneFmm::set_points(const ConstArrayView& sources, const ConstArrayView& targets) {
    const int threads = options_.threads;
    sources_ = read_points_on(threads, sources, "sources", 2);
    if (!problem_.self) targets_ = read_points_on(threads, targets, "targets", 2);
    source_points_ = lifted(sources_, threads);
    target_points_ = lifted(targets_, threads);
    own_.sources = std::ssize(sources_) / 2;
    own_.targets = problem_.self ? own_.sources : std::ssize(targets_) / 2;
    set_frame();
    source_points_ = in_frame(frame_, std::move(source_points_), threads);
    target_points_ = in_frame(frame_, std::move(target_points_), threads);
    sigma_ = std::ldexp(problem_.sigma, frame_.exponent);
    orders_ = {};
    if (sigma_ > 0.0) fit_shape();
    prepare();
}

void PlaneFmm::set_frame() {
    const int threads = options_.threads;
    if (own_points_) {
        frame_ = choose_plane_frame(extents(), problem_.sigma);
        require_float_range_over_ranks(*share_.ranks(), source_points_, target_points_, frame_, 0.0,
                                       options_.precision, threads);
    } else {
        frame_ = choose_plane_frame(source_points_, target_points_, problem_.sigma, threads);
        require_float_range(source_points_, target_points_, frame_, 0.0, options_.precision, threads);
    }
}

std::array<Extent, 3> PlaneFmm::extents() const {
    return extents_of(own_points_ ? share_.ranks() : nullptr, source_points_, target_points_,
                      options_.threads);
}

// Cores reach over cells that are narrow beside them.
void PlaneFmm::fit_shape() {
    const auto& order = shape_.order;
    shape_ = plane_shape(problem_, options_, cost_table_in_use().table, order.order,
                         sigma_ * core_reach(order.order, order.separation) / longest_side(extents()));
}

void PlaneFmm::prepare() {
    const int threads = options_.threads;
    shape_ = comm::from_rank(share_.ranks(), shape_); // hosts may have cost tables of their own
    far_.reset();                                     // it refers to the tree
    tree_.emplace(source_points_, target_points_, problem_.self, shape_.tree, threads,
                  own_points_ ? share_.ranks() : nullptr, share_.share_begins());
    const auto rates = [&] {
        return plane_leaf_rates(problem_, options_, cost_table_in_use().table, shape_.order);
    };
    share_.divide(*tree_, lists_, shape_.few, rates, threads);
    if (own_points_) own_points_->take(share_, *tree_, lists_, source_points_, target_points_, threads);
    near_.make(*tree_, lists_, threads, share_.near_share());
    share_.forget_whole();
    if (options_.precision == Precision::float64)
        set_near_points(double_sources_, double_targets_);
    else
        set_near_points(float_sources_, float_targets_);
    const LeafGrid finest{shape_.tree.coarse, tree_->levels() - 1, 2};
    if (finest.has_far_cells(shape_.order.separation))
        far_.emplace(*tree_, lists_, share_, shape_.order, options_.isa, threads);
}

template <class T>
void PlaneFmm::set_near_points(PreparedPoints<T>& sources, PreparedPoints<T>& targets) {
    const bool with_low = options_.precision == Precision::mixed;
    sources.set(tree_->sources().x, with_low, options_.threads);
    if (!problem_.self) targets.set(tree_->targets().x, with_low, options_.threads);
}

bool PlaneFmm::refine(double error) {
    if (options_.order > 0 || !far_ || shape_.order.order >= most_plane_order) return false;
    const auto beyond = orders_.beyond(error, problem_.tolerance);
    if (!beyond) return false;
    const int order =
        plane_order_after(shape_.order.order + *beyond, shape_.order.separation, error, problem_.tolerance);
    shape_ = plane_shape(problem_, options_, cost_table_in_use().table, order);
    if (sigma_ > 0.0) fit_shape();
    prepare();
    return true;
}

PlaneFmm::Columns PlaneFmm::bring_strengths(int exponent) const {
    const int threads = options_.threads;
    const int columns = problem_.kernel->strength.columns;
    const bool complex = are_complex(strengths_, columns, threads);
    if (!own_points_)
        return strength_columns(strengths_, columns, complex, exponent, tree_->sources().from, threads);
    const auto& sources = own_points_->sources();
    RawVector<double> rows(static_cast<std::size_t>(columns * sources.rows()));
    sources.bring(strengths_, columns, PowerOfTwo(exponent), rows.data());
    return strength_columns(rows, columns, share_.on_any(complex), 0, {}, threads);
}

double PlaneFmm::sum_of_all_strengths(std::span<const double> column) const {
    if (!own_points_ || column.empty()) return sum_of(column, options_.threads);
    const auto [begin, end] = own_points_->sources().own_rows();
    return sum_of_all(*share_.ranks(),
                      column.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)),
                      options_.threads);
}

template <class T>
std::optional<MutualBlocks::Begun>
PlaneFmm::near_field(PreparedPoints<T>& sources, PreparedPoints<T>& targets, const Columns& strengths,
                     const TileSums& sums, SumReport& report, WorkWatch& watch) {
    Stopwatch clock;
    sources.set_strengths(strengths[0], 0, options_.threads);
    sources.set_imaginary_strengths(strengths[1], 0, options_.threads);
    const int outputs =
        (sums.potential != nullptr ? potential_only : 0) | (sums.field[0] != nullptr ? field_only : 0);
    const BlockSumTask task{.loop = problem_.kernel->loop,
                            .precision = options_.precision,
                            .outputs = static_cast<LoopOutputs>(outputs),
                            .targets = problem_.self ? sources.view() : targets.view(),
                            .sources = sources.view(),
                            .sigma = sigma_,
                            .sums = sums,
                            .isa = options_.isa,
                            .threads = options_.threads,
                            .watch = &watch,
                            .ranks = share_.ranks(),
                            .rank_blocks = share_.first_leaves()};
    auto begun = near_.begin(task);
    report.passes.push_back({"P2P", clock.lap()});
    return begun;
}

// As in space, ranks send each other multipole expansions while near pairs are summed, and what they summed
// for each other while expansions are translated.
void PlaneFmm::compute(const Columns& strengths, const TileSums& sums, const SumHooks& hooks,
                       SumReport& report) {
    if (problem_.sources == 0 || problem_.targets == 0) return;
    if (sums.potential == nullptr && sums.field[0] == nullptr) return;
    const double work = report.fmm.multiply_adds + work_of_a_log_pair * near_.computed_pairs();
    WorkWatch watch(work * share_.own_part(), hooks.progress, hooks.stop_requested);
    Stopwatch clock;
    const auto timed = [&](const char* name) { add_seconds(report, name, clock.lap()); };
    if (far_) {
        far_->set_watch(&watch);
        far_->form_multipoles(
            {.real = strengths[0], .imaginary = strengths[1], .with_potential = sums.potential != nullptr});
        timed("P2M");
        far_->gather_multipoles();
        timed("M2M");
    }
    auto begun = options_.precision == Precision::float64
                     ? near_field(double_sources_, double_targets_, strengths, sums, report, watch)
                     : near_field(float_sources_, float_targets_, strengths, sums, report, watch);
    clock.lap();
    if (far_) {
        far_->receive_multipoles();
        timed("M2M");
        far_->translate();
        timed("M2L");
        far_->spread_locals();
        timed("L2L");
    }
    if (begun) {
        near_.end(*begun);
        timed("P2P");
    }
    if (far_) {
        far_->evaluate(sums);
        timed("L2P");
    }
    if (share_.on_any(watch.stopped())) throw Interrupted("the sum was given up before its end");
    if (!own_points_) share_.gather_sums(sums);
}

void PlaneFmm::fill(SumReport& report, int sets) const {
    report.isa = options_.isa;
    report.device = {.kind = DeviceKind::cpu};
    report.threads = options_.threads;
    report.fmm = {.order = shape_.order.order,
                  .m2l = M2L::matrix,
                  .separation = shape_.order.separation,
                  .coarse = shape_.tree.coarse,
                  .levels = tree_->levels(),
                  .cells = tree_->count_cells(),
                  .leaves = share_.count_leaves(),
                  .near_pairs = near_.pairs(),
                  .multiply_adds = far_ ? far_->work(sets) : 0.0};
}

void PlaneFmm::execute(const ConstArrayView& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                       SumReport& report) {
    Stopwatch clock;
    const int threads = options_.threads;
    if (outputs.potential) require_host(outputs.potential, "potential");
    if (outputs.field) require_host(outputs.field, "field");
    const int columns_of_strength = problem_.kernel->strength.columns;
    read_values_on(threads, strengths, own_.sources, "strengths", strengths_, columns_of_strength);
    const int exponent = own_points_
                             ? strength_exponent_over_ranks(*share_.ranks(), strengths_, {}, 0, threads)
                             : strength_exponent(strengths_, {}, 0, threads);
    const auto columns = bring_strengths(exponent);
    const bool is_complex = !columns[1].empty();
    const auto rows = static_cast<std::size_t>(own_points_ ? own_points_->targets().rows() : own_.targets);
    const auto numbers = numbers_of_sums(rows);
    double* const values = sums_.take(numbers);
    parallel_parts(threads, numbers,
                   [&](std::size_t begin, std::size_t end) { std::fill(values + begin, values + end, 0.0); });
    PlaneSums sums{.sums = places_of_sums(values, rows, outputs, is_complex),
                   .rows = tree_->targets().from,
                   .frame_exponent = frame_.exponent,
                   .strength_exponent = exponent,
                   .total = {sum_of_all_strengths(columns[0]), sum_of_all_strengths(columns[1])}};
    fill(report, is_complex && outputs.potential ? 2 : 1);
    report.prepare_seconds = clock.lap();
    compute(columns, sums.sums, hooks, report);
    report.compute_seconds = clock.lap();
    if (own_points_) { // sums go back to the ranks that gave the points
        const auto& targets = own_points_->targets();
        const auto given = std::max<std::size_t>(targets.order().size(), 1); // places of no rows are places
        const auto there =
            places_of_sums(given_sums_.take(numbers_of_sums(given)), given, outputs, is_complex);
        targets.bring_back(sums.sums, there);
        sums.sums = there;
        sums.rows = targets.order();
    }
    write(sums, outputs, report);
    report.finish_seconds = clock.lap();
}

std::int64_t PlaneFmm::write_or_repair(const PlaneSums& sums, const PlaneResults& results, int threads) {
    const PlaneInputs inputs{.sources = sources_.data(),
                             .strengths = strengths_.data(),
                             .targets = problem_.self ? sources_.data() : targets_.data()};
    if (!own_points_) return write_plane_results(problem_, inputs, sums, results, threads);
    if (!share_.on_any(!write_plane_rows(own_, inputs, sums, results, threads))) return 0;
    return repair_plane_rows_on_ranks(*share_.ranks(), problem_, own_, inputs, results, threads);
}

void PlaneFmm::write(const PlaneSums& sums, const SumOutputs& outputs, SumReport& report) {
    const int columns = problem_.kernel->strength.columns;
    const auto numbers = [&](const ArrayView& view, int width) { // of no rows, too
        return view ? static_cast<std::size_t>(width * std::max<std::int64_t>(own_.targets, 1)) : 0;
    };
    const PlaneResults results{.potential = potential_.take(numbers(outputs.potential, columns)),
                               .field = field_.take(numbers(outputs.field, 2))};
    report.direct.coincident_pairs_skipped = write_or_repair(sums, results, report.threads);
    const auto write_rows = [&](const ArrayView& view, const double* values, int width) {
        if (values == nullptr) return;
        parallel_parts(report.threads, static_cast<std::size_t>(own_.targets),
                       [&](std::size_t begin, std::size_t end) {
                           const auto first = static_cast<std::int64_t>(begin);
                           const auto rows = static_cast<std::int64_t>(end) - first;
                           write_values(rows_of(view, first, rows), values + first * width, rows, width);
                       });
    };
    write_rows(outputs.potential, results.potential, columns);
    write_rows(outputs.field, results.field, 2);
}

} // namespace farfield
