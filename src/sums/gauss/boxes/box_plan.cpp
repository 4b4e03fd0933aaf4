#include "sums/gauss/boxes/box_plan.h"

#include "backend/threads/parallel.h"

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

constexpr std::size_t boxes_of_a_part = 64;

/// Calls body(box) for all of them.
template <class Body>
void for_each_box(int threads, std::size_t boxes, const Body& body) {
    parallel_parts(
        threads, boxes,
        [&](std::size_t begin, std::size_t end) {
            for (auto b = begin; b < end; ++b) body(b);
        },
        boxes_of_a_part);
}

} // namespace

double BoxPlan::side() const { return longest_side(lattice_) / sigma_; }

void BoxPlan::set_points(const GaussPointSets& points, int dimension, int threads, const BoxAim& aim) {
    dimension_ = dimension;
    self_ = points.targets.empty();
    aim_ = aim;
    sigma_ = points.frame.sigma;
    cutoff_ = aim.cutoff * sigma_;
    if (points.sources.empty()) {
        sort_points(points, {.side = cutoff_}, threads);
    } else {
        auto room = aim; // what is held shows only with all points
        for (int attempt = 0; attempt == 0 || (numbers() > aim.most_numbers && attempt < 4); ++attempt) {
            sort_points(points, best_box_size(points, dimension, room, threads), threads);
            room.most_numbers *= 0.5;
        }
        if (numbers() > aim.most_numbers) set_expansions({}, threads);
    }
    count(threads);
}

void BoxPlan::sort_points(const GaussPointSets& points, const BoxSize& size, int threads) {
    lattice_ = fitted_lattice(points.extent, points.frame, dimension_, size.side);
    sources_ = lattice_.sorted(points.sources, points.frame, threads);
    source_boxes_ = OccupiedBoxes(lattice_, sources_.keys);
    targets_ = self_ ? SortedKeys{} : lattice_.sorted(points.targets, points.frame, threads);
    target_boxes_ = self_ ? OccupiedBoxes() : OccupiedBoxes(lattice_, targets_.keys);
    set_expansions(size, threads);
}

void BoxPlan::set_expansions(const BoxSize& size, int threads) {
    order_ = size.order;
    terms_ = order_ > 0 ? static_cast<std::size_t>(std::llround(std::pow(order_, dimension_))) : 0;
    costs_ = BoxCosts(aim_, dimension_, order_);
    hermite_.assign(source_boxes_.count(), none);
    taylor_.assign(target_boxes().count(), none);
    stages_ = {};
    if (order_ == 0) return;
    if (size.translates) set_translated(threads);
    set_formed(threads);
    drop_unused(threads);
    const auto is_none = [](Expansion expansion) { return expansion == none; };
    if (std::all_of(hermite_.begin(), hermite_.end(), is_none) &&
        std::all_of(taylor_.begin(), taylor_.end(), is_none)) {
        order_ = 0;
        terms_ = 0;
    }
    if (!size.translates || order_ == 0) return;
    stages_.set(lattice_, keys_of(source_boxes_, hermite_), keys_of(target_boxes(), taylor_), cutoff_);
    stages_.set_order(order_, sigma_);
}

std::vector<std::uint64_t> BoxPlan::keys_of(const OccupiedBoxes& boxes,
                                            const std::vector<Expansion>& expansions) const {
    std::vector<std::uint64_t> out;
    for (std::size_t b = 0; b < boxes.count(); ++b)
        if (expansions[b] == translated) out.push_back(boxes.keys()[b]);
    return out;
}

// A box takes part in translations if its expansion and half of a box's translations cost less than the best
// of the other interactions with all boxes near.
void BoxPlan::set_translated(int threads) {
    double offsets = 0.0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(dimension_); ++k)
        offsets += most_offsets(lattice_, k, cutoff_);
    const double half = 0.5 * offsets * costs_.product();
    for_each_box(threads, taylor_.size(), [&](std::size_t t) {
        const double m = target_boxes().size(t), own = costs_.value(m);
        double by_hermite = 0.0, by_taylor = own;
        visit_sources(t, [&](std::size_t s) {
            const double n = source_boxes_.size(s), pairs = costs_.pairs(n, m);
            by_hermite += std::min(pairs, costs_.value(m));
            by_taylor += std::min(pairs, costs_.gather(n));
        });
        if (std::min(by_hermite, by_taylor) > own + half) taylor_[t] = translated;
    });
    for_each_box(threads, hermite_.size(), [&](std::size_t s) {
        const double n = source_boxes_.size(s), own = costs_.form(n);
        double by_hermite = own, by_taylor = 0.0;
        visit_targets(s, [&](std::size_t t) {
            const double m = target_boxes().size(t), pairs = costs_.pairs(n, m);
            by_hermite += std::min(pairs, costs_.value(m));
            by_taylor += std::min(pairs, costs_.gather(n));
        });
        if (std::min(by_hermite, by_taylor) > own + half) hermite_[s] = translated;
    });
}

// Other boxes get an expansion if it saves more than it costs.
void BoxPlan::set_formed(int threads) {
    for_each_box(threads, hermite_.size(), [&](std::size_t s) {
        if (hermite_[s] == translated) return;
        const double n = source_boxes_.size(s);
        double gain = -costs_.form(n);
        visit_targets(s, [&](std::size_t t) {
            const double m = target_boxes().size(t);
            double other = costs_.pairs(n, m);
            if (taylor_[t] == translated) other = std::min(other, costs_.gather(n));
            gain += std::max(0.0, other - costs_.value(m));
        });
        if (gain > 0.0) hermite_[s] = formed;
    });
    for_each_box(threads, taylor_.size(), [&](std::size_t t) {
        if (taylor_[t] == translated) return;
        const double m = target_boxes().size(t);
        double gain = -costs_.value(m);
        visit_sources(t, [&](std::size_t s) {
            const double n = source_boxes_.size(s);
            double other = costs_.pairs(n, m);
            if (hermite_[s] != none) other = std::min(other, costs_.value(m));
            gain += std::max(0.0, other - costs_.gather(n));
        });
        if (gain > 0.0) taylor_[t] = formed;
    });
}

BoxAct BoxPlan::act(std::size_t source_box, std::size_t target_box) const {
    const auto hermite = hermite_[source_box], taylor = taylor_[target_box];
    if (hermite == translated && taylor == translated) return BoxAct::translation;
    const double n = source_boxes_.size(source_box), m = target_boxes().size(target_box);
    double least = costs_.pairs(n, m);
    auto out = BoxAct::pairs;
    if (hermite != none && costs_.value(m) < least) {
        least = costs_.value(m);
        out = BoxAct::hermite;
    }
    return taylor != none && costs_.gather(n) < least ? BoxAct::taylor : out;
}

void BoxPlan::drop_unused(int threads) {
    for_each_box(threads, hermite_.size(), [&](std::size_t s) {
        if (hermite_[s] != formed) return;
        bool used = false;
        visit_targets(s, [&](std::size_t t) { used = used || act(s, t) == BoxAct::hermite; });
        if (!used) hermite_[s] = none;
    });
    for_each_box(threads, taylor_.size(), [&](std::size_t t) {
        if (taylor_[t] != formed) return;
        bool used = false;
        visit_sources(t, [&](std::size_t s) { used = used || act(s, t) == BoxAct::taylor; });
        if (!used) taylor_[t] = none;
    });
}

double BoxPlan::numbers() const {
    const auto held = [](const std::vector<Expansion>& expansions) {
        return static_cast<double>(expansions.size() - static_cast<std::size_t>(std::count(
                                                           expansions.begin(), expansions.end(), none)));
    };
    const double of_targets = held(taylor_);
    return (held(hermite_) + of_targets +
            static_cast<double>(stages_.expansions(static_cast<std::size_t>(of_targets)))) *
           static_cast<double>(terms_);
}

void BoxPlan::count(int threads) {
    struct Part {
        std::array<std::int64_t, box_acts> boxes{};
        std::int64_t points = 0;
        Seconds seconds;
    };
    const auto parts = parallel_results(
        threads, target_boxes().count(),
        [&](std::size_t begin, std::size_t end) {
            Part part;
            for (auto t = begin; t < end; ++t) {
                const double m = target_boxes().size(t);
                if (taylor_[t] != none) part.seconds.values += costs_.value(m);
                visit_sources(t, [&](std::size_t s) {
                    const double n = source_boxes_.size(s);
                    const auto how = act(s, t);
                    ++part.boxes[static_cast<std::size_t>(how)];
                    if (how == BoxAct::hermite) part.seconds.values += costs_.value(m);
                    if (how == BoxAct::taylor) part.seconds.forms += costs_.gather(n);
                    if (how != BoxAct::pairs) return;
                    part.seconds.values += costs_.pairs(n, m);
                    part.points += std::int64_t{source_boxes_.size(s)} * target_boxes().size(t);
                });
            }
            return part;
        },
        boxes_of_a_part);
    seconds_ = {};
    box_pairs_ = {};
    point_pairs_ = 0;
    for (const auto& part : parts) {
        for (std::size_t a = 0; a < box_acts; ++a) box_pairs_[a] += part.boxes[a];
        point_pairs_ += part.points;
        seconds_.forms += part.seconds.forms;
        seconds_.values += part.seconds.values;
    }
    for (std::size_t s = 0; s < hermite_.size(); ++s)
        if (hermite_[s] != none) seconds_.forms += costs_.form(source_boxes_.size(s));
    seconds_.translations = stages_.products() * costs_.product();
}

} // namespace farfield
