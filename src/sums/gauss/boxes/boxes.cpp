#include "sums/gauss/boxes/boxes.h"

#include "backend/threads/parallel.h"
#include "base/stopwatch.h"
#include "sums/direct/cpu/isa_function.h"

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

const BoxRoots& roots() {
    static const BoxRoots all;
    return all;
}

/// Calls body(begin, end) for parts of a range.
template <class Body>
void for_parts(const BlockRange& range, std::int32_t size, const Body& body) {
    for (auto begin = range.begin; begin < range.end; begin += size)
        body(BlockRange{begin, std::min(range.end, begin + size)});
}

} // namespace

BoxRoots::BoxRoots() { // NOLINT(*-member-init): filled here
    for (int n = 0; n <= most_loop_order; ++n) {
        root[n] = std::sqrt(static_cast<double>(n));
        inverse[n] = 1.0 / std::sqrt(n + 1.0);
        ratio[n] = std::sqrt(n / (n + 1.0));
    }
}

GaussBoxes::GaussBoxes(const SumProblem& problem, Isa isa, int threads, comm::Transport* ranks)
    : problem_(problem), turns_(ranks), isa_(isa), threads_(threads), loops_(problem, isa, threads) {}

double GaussBoxes::work() const {
    const auto& seconds = plan_.seconds();
    const double own =
        seconds.all() - (1.0 - turns_.share()) * seconds.values; // values are divided between ranks
    return picoseconds * own / std::max(1, problem_.strength_vectors);
}

void GaussBoxes::set_points(const GaussShape& shape, const GaussPointSets& points) {
    frame_ = points.frame;
    const int d = problem_.dimension;
    plan_.set_points(points, d, threads_, shape.boxes);
    sources_.set(points.sources, d, frame_, plan_.sources().from, false, threads_);
    if (!problem_.self) targets_.set(points.targets, d, frame_, target_order(), false, threads_);
    loops_.set_points(points.sources, points.targets, frame_, plan_.sources().from, target_order());
    lay_out();
}

// Where expansions stand. Boxes of many sources are formed in parts, whose sums stand by themselves.
void GaussBoxes::lay_out() {
    const auto& from = plan_.source_boxes();
    const auto& to = plan_.target_boxes();
    const auto terms = plan_.terms();
    parts_.clear();
    blocks_.clear();
    taylor_boxes_.clear();
    hermite_place_.assign(from.count(), 0);
    taylor_place_.assign(to.count(), 0);
    std::size_t hermite = 0, taylor = 0;
    for (std::size_t s = 0; s < from.count(); ++s) {
        if (plan_.hermite(s) == BoxPlan::none) continue;
        hermite_place_[s] = hermite;
        hermite += terms;
        for_parts(from.points(s), sources_of_a_part, [&](const BlockRange& points) {
            parts_.push_back({points, s});
        });
    }
    for (std::size_t t = 0; t < to.count(); ++t) {
        for_parts(to.points(t), most_block_targets, [&](const BlockRange& points) {
            blocks_.push_back({points, t});
        });
        if (plan_.taylor(t) == BoxPlan::none) continue;
        taylor_place_[t] = taylor;
        taylor += terms;
        taylor_boxes_.push_back(t);
    }
    hermite_.resize(hermite);
    taylor_.resize(taylor);
}

void GaussBoxes::set_centre(std::uint64_t key, double* centre) const {
    const auto& lattice = plan_.lattice();
    const auto box = lattice.box_of(key);
    for (std::size_t k = 0; k < static_cast<std::size_t>(lattice.dimension); ++k)
        centre[k] = lattice.low[k] + (static_cast<double>(box[k]) + 0.5) * lattice.side[k];
}

BoxFormTask GaussBoxes::form_task(std::uint64_t key, const double* strengths) const {
    BoxFormTask task{.dimension = problem_.dimension,
                     .order = plan_.order(),
                     .inverse_sigma = 1.0 / frame_.sigma,
                     .strengths = strengths,
                     .terms = static_cast<std::int64_t>(plan_.terms()),
                     .roots = &roots()};
    const auto view = sources_.view();
    for (std::size_t k = 0; k < most_dimensions; ++k) task.x[k] = static_cast<const double*>(view.high[k]);
    set_centre(key, task.centre);
    return task;
}

void GaussBoxes::form_hermite(const double* strengths, WorkWatch& watch) {
    const auto function = FF_ISA_FUNCTION(ff_box_form, isa_);
    const auto terms = plan_.terms();
    std::fill(hermite_.begin(), hermite_.end(), 0.0);
    // The first part of a box goes to the expansion itself, the others follow in their order.
    std::vector<std::size_t> others;
    for (std::size_t i = 1; i < parts_.size(); ++i)
        if (parts_[i].box == parts_[i - 1].box) others.push_back(i);
    parts_sums_.assign(others.size() * terms, 0.0);
    std::vector<double*> out(parts_.size());
    for (std::size_t i = 0; i < parts_.size(); ++i) out[i] = hermite_.data() + hermite_place_[parts_[i].box];
    for (std::size_t j = 0; j < others.size(); ++j) out[others[j]] = parts_sums_.data() + j * terms;
    parallel_for(threads_, static_cast<std::int64_t>(parts_.size()), [&](std::int64_t number) {
        if (watch.stopped()) return;
        const auto i = static_cast<std::size_t>(number);
        auto task = form_task(plan_.source_boxes().keys()[parts_[i].box], strengths);
        AlignedVector<double> scratch(terms * static_cast<std::size_t>(box_lanes));
        task.scratch = scratch.data();
        task.ranges = &parts_[i].points;
        task.range_count = 1;
        task.expansion = out[i];
        function(&task);
        watch.done(plan_.costs().form(parts_[i].points.size()) * picoseconds / problem_.strength_vectors);
    });
    for (std::size_t j = 0; j < others.size(); ++j) {
        double* const sum = hermite_.data() + hermite_place_[parts_[others[j]].box];
        for (std::size_t n = 0; n < terms; ++n) sum[n] += parts_sums_[j * terms + n];
    }
}

void GaussBoxes::translate(WorkWatch& watch) {
    std::vector<const double*> from;
    std::vector<double*> to;
    for (std::size_t s = 0; s < hermite_place_.size(); ++s)
        if (plan_.hermite(s) == BoxPlan::translated) from.push_back(hermite_.data() + hermite_place_[s]);
    for (const auto t : taylor_boxes_)
        if (plan_.taylor(t) == BoxPlan::translated) to.push_back(taylor_.data() + taylor_place_[t]);
    if (from.empty() || to.empty()) return std::fill(taylor_.begin(), taylor_.end(), 0.0);
    plan_.stages().run(from, to, taylor_, isa_, threads_,
                       plan_.costs().product() * picoseconds / problem_.strength_vectors, watch);
}

void GaussBoxes::form_taylor(const double* strengths, WorkWatch& watch) {
    const auto function = FF_ISA_FUNCTION(ff_box_form, isa_);
    parallel_for(threads_, static_cast<std::int64_t>(taylor_boxes_.size()), [&](std::int64_t number) {
        if (watch.stopped()) return;
        const auto t = taylor_boxes_[static_cast<std::size_t>(number)];
        std::vector<BlockRange> ranges;
        double sources = 0.0;
        plan_.visit_sources(t, [&](std::size_t s) {
            if (plan_.act(s, t) != BoxAct::taylor) return;
            ranges.push_back(plan_.source_boxes().points(s));
            sources += ranges.back().size();
        });
        if (ranges.empty()) return;
        auto task = form_task(plan_.target_boxes().keys()[t], strengths);
        AlignedVector<double> scratch(plan_.terms() * static_cast<std::size_t>(box_lanes));
        task.taylor = true;
        task.scratch = scratch.data();
        task.ranges = ranges.data();
        task.range_count = static_cast<std::int64_t>(ranges.size());
        task.expansion = taylor_.data() + taylor_place_[t];
        function(&task);
        watch.done(plan_.costs().gather(sources) * picoseconds / problem_.strength_vectors);
    });
}

GaussBoxes::Actors GaussBoxes::actors_on(const Part& block) const {
    Actors out;
    const auto t = block.box;
    const auto key = plan_.target_boxes().keys()[t];
    const auto add = [&](const double* numbers, std::uint64_t about, bool taylor) {
        BoxExpansion expansion{.numbers = numbers, .taylor = taylor};
        set_centre(about, expansion.centre);
        out.expansions.push_back(expansion);
    };
    if (plan_.taylor(t) != BoxPlan::none) add(taylor_.data() + taylor_place_[t], key, true);
    plan_.visit_sources(t, [&](std::size_t s) {
        const auto how = plan_.act(s, t);
        const auto from = plan_.source_boxes().keys()[s];
        if (how != BoxAct::pairs) {
            out.own = out.own || from == key;
            if (how == BoxAct::hermite) add(hermite_.data() + hermite_place_[s], from, false);
            return;
        }
        const auto range = plan_.source_boxes().points(s);
        if (!out.ranges.empty() && out.ranges.back().end == range.begin)
            out.ranges.back().end = range.end;
        else
            out.ranges.push_back(range);
    });
    return out;
}

/// Pairs are those of all vectors, with the first one.
void GaussBoxes::take_values(std::int64_t vector, const double* strengths, GaussSums& sums,
                             WorkWatch& watch) {
    const auto function = FF_ISA_FUNCTION(ff_box_values, isa_);
    const auto view = problem_.self ? sources_.view() : targets_.view();
    BoxValueTask all{.dimension = problem_.dimension,
                     .order = plan_.order(),
                     .inverse_sigma = 1.0 / frame_.sigma,
                     .roots = &roots(),
                     .potential = sums.potential(vector)};
    for (int k = 0; k < problem_.dimension; ++k) {
        all.x[k] = static_cast<const double*>(view.high[static_cast<std::size_t>(k)]);
        all.gradient[k] = sums.gradient(vector, k);
    }
    const double share = plan_.seconds().values * picoseconds / problem_.strength_vectors /
                         static_cast<double>(std::max<std::size_t>(1, blocks_.size()));
    parallel_for(threads_, static_cast<std::int64_t>(blocks_.size()), [&](std::int64_t number) {
        const auto b = static_cast<std::size_t>(number);
        if (!turns_.is_mine(b) || watch.stopped()) return;
        const auto& block = blocks_[b];
        const auto actors = actors_on(block);
        auto task = all;
        task.begin = block.points.begin;
        task.end = block.points.end;
        task.expansions = actors.expansions.data();
        task.count = static_cast<std::int64_t>(actors.expansions.size());
        if (task.count > 0) function(&task);
        if (vector == 0 && !actors.ranges.empty()) loops_.add(block.points, actors.ranges, sums);
        if (actors.own && problem_.without_own() && sums.with_potential())
            for (auto i = block.points.begin; i < block.points.end; ++i)
                sums.potential(vector)[i] -= strengths[i];
        watch.done(share);
    });
}

void GaussBoxes::add(std::span<const double> strengths, std::int64_t vectors, int exponent, GaussSums& sums,
                     std::vector<PassTime>& passes, WorkWatch& watch) {
    passes = {{"hermite", 0.0}, {"translations", 0.0}, {"taylor", 0.0}, {"values", 0.0}};
    Stopwatch clock;
    const auto& order = plan_.sources().from;
    loops_.set_strengths(strengths, vectors, exponent, order);
    const auto columns = gauss_strengths<double>(strengths, vectors, exponent, order, threads_);
    for (std::int64_t v = 0; v < vectors && !watch.stopped(); ++v) {
        const double* const q = columns[static_cast<std::size_t>(v)].data();
        form_hermite(q, watch);
        passes[0].seconds += clock.lap();
        if (!watch.stopped()) translate(watch);
        passes[1].seconds += clock.lap();
        if (!watch.stopped()) form_taylor(q, watch);
        passes[2].seconds += clock.lap();
        if (!watch.stopped()) take_values(v, q, sums, watch);
        passes[3].seconds += clock.lap();
    }
    const auto points_of = [&](std::size_t b) -> const BlockRange& { return blocks_[b].points; };
    turns_.gather(blocks_.size(), points_of, sums, watch);
}

void GaussBoxes::describe(SumReport& report) const {
    const auto pairs_of = [&](BoxAct act) { return plan_.box_pairs()[static_cast<std::size_t>(act)]; };
    report.fgt = {.strategy = GaussStrategy::boxes,
                  .cutoff = plan_.cutoff(),
                  .near_pairs = plan_.point_pairs(),
                  .order = plan_.order(),
                  .boxes = static_cast<std::int64_t>(plan_.source_boxes().count()),
                  .side = plan_.side(),
                  .pair_boxes = pairs_of(BoxAct::pairs),
                  .hermite_boxes = pairs_of(BoxAct::hermite),
                  .taylor_boxes = pairs_of(BoxAct::taylor),
                  .translated_boxes = pairs_of(BoxAct::translation)};
    if (plan_.point_pairs() == 0) report.precision = Precision::float64;
}

} // namespace farfield
