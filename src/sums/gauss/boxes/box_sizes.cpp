#include "sums/gauss/boxes/box_sizes.h"

#include "backend/threads/parallel.h"
#include "sums/gauss/boxes/costs.h"
#include "sums/gauss/boxes/occupied_boxes.h"
#include "sums/gauss/boxes/truncation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace farfield {
namespace {

constexpr std::size_t sampled_points = 16384;
constexpr std::size_t sampled_boxes = 32;
constexpr double box_seconds = 3e-8;           ///< to see what a box does to another
constexpr double seconds_to_find_a_row = 1e-8; ///< to look for a row of boxes

std::vector<double> sample_of(std::span<const double> points, std::size_t d) {
    const auto n = points.size() / d, taken = std::min(n, sampled_points);
    std::vector<double> out;
    for (std::size_t j = 0; j < taken; ++j) {
        const auto at = points.begin() + static_cast<std::ptrdiff_t>(d * (j * n / taken));
        out.insert(out.end(), at, at + static_cast<std::ptrdiff_t>(d));
    }
    return out;
}

/// Sampled points in boxes, each of which stands for several.
class SampledBoxes {
public:
    SampledBoxes(const GaussLattice& lattice, std::span<const double> points, std::size_t all,
                 const GaussFrame& frame)
        : keys_(lattice.sorted(points, frame, 1)), boxes_(lattice, keys_.keys),
          weight_(static_cast<double>(all) /
                  static_cast<double>(std::max<std::size_t>(1, keys_.keys.size()))) {}
    [[nodiscard]] const OccupiedBoxes& boxes() const { return boxes_; }
    [[nodiscard]] double weight() const { return weight_; }
    [[nodiscard]] double size(std::size_t box) const { return weight_ * boxes_.size(box); }
    /// Whether boxes hold so many of the sample that each stands for about as many as it has.
    [[nodiscard]] bool tells() const {
        double squares = 0.0;
        for (std::size_t b = 0; b < boxes_.count(); ++b)
            squares += static_cast<double>(boxes_.size(b)) * boxes_.size(b);
        return weight_ <= 1.0 || squares >= 2.5 * static_cast<double>(keys_.keys.size());
    }
    [[nodiscard]] double all() const { return weight_ * static_cast<double>(keys_.keys.size()); }
    /// The box of the j-th of some points.
    [[nodiscard]] std::size_t box_of_point(std::size_t j, std::size_t of) const {
        const auto key = keys_.keys[j * keys_.keys.size() / of];
        const auto keys = boxes_.keys();
        return static_cast<std::size_t>(std::lower_bound(keys.begin(), keys.end(), key) - keys.begin());
    }

private:
    SortedKeys keys_;
    OccupiedBoxes boxes_;
    double weight_;
};

struct Estimate {
    const SampledBoxes& sources;
    const SampledBoxes& targets;
    const GaussLattice& lattice;
    BoxCosts costs;
    double cutoff = 0.0;
    bool expands = false, translates = false;

    /// Products for one box in a lattice that is full.
    [[nodiscard]] double translation() const {
        double offsets = 0.0;
        for (std::size_t k = 0; k < static_cast<std::size_t>(lattice.dimension); ++k)
            offsets += most_offsets(lattice, k, cutoff);
        return offsets * costs.product();
    }

    /// Rows of boxes near a box, or all that hold some.
    [[nodiscard]] double rows() const {
        double all = 1.0;
        for (std::size_t k = 1; k < static_cast<std::size_t>(lattice.dimension); ++k)
            all *= most_offsets(lattice, k, cutoff);
        return std::min(all, sources.all());
    }

    /// Of what acts on the targets of a box. That as many targets are near its sources as is usual for the
    /// box itself stands for what is not looked at.
    [[nodiscard]] double of_targets(std::size_t box) const {
        const double m = targets.size(box);
        std::vector<double> near;
        double points = 0.0;
        sources.boxes().visit_near(lattice.box_of(targets.boxes().keys()[box]), cutoff, [&](std::size_t s) {
            near.push_back(sources.size(s));
            points += near.back();
        });
        const double near_targets = std::max(m, points * targets.all() / sources.all());
        const double half = 0.5 * translation();
        const double value = expands ? costs.value(m) : HUGE_VAL;
        double by_hermite = 0.0, by_taylor = value;
        for (const double n : near) {
            by_hermite += std::min(costs.pairs(n, m), value);
            by_taylor += std::min(costs.pairs(n, m), costs.gather(n));
        }
        const bool has_taylor = translates && std::min(by_hermite, by_taylor) > value + half;
        double seconds = seconds_to_find_a_row * rows() + (has_taylor ? value + half : 0.0);
        double gathered = 0.0, apart = 0.0;
        for (const double n : near) {
            const double share = m / near_targets, boxes = near_targets / m;
            const double by_pairs = costs.pairs(n, m);
            seconds += box_seconds * (expands ? 1.0 : sources.weight()); // most boxes may be unseen
            if (translates &&
                std::min(boxes * std::min(by_pairs, costs.gather(n)),
                         costs.form(n) + boxes * std::min(by_pairs, value)) > costs.form(n) + half) {
                seconds += share * (costs.form(n) + half);
                if (!has_taylor) seconds += std::min(by_pairs, value);
                continue;
            }
            const double hermite = expands ? value + share * costs.form(n) : HUGE_VAL;
            const double otherwise = std::min(by_pairs, hermite);
            const double gather = expands ? std::min(otherwise, costs.gather(n)) : otherwise;
            gathered += gather;
            apart += otherwise;
        }
        return seconds + (has_taylor ? gathered : std::min(apart, gathered + value));
    }

    [[nodiscard]] double seconds(int threads) const {
        std::array<double, sampled_boxes> a_target{};
        parallel_for(threads, sampled_boxes, [&](std::int64_t j) {
            const auto place = static_cast<std::size_t>(j);
            const auto box = targets.box_of_point(place, sampled_boxes);
            a_target[place] = of_targets(box) / targets.size(box);
        });
        return std::accumulate(a_target.begin(), a_target.end(), 0.0) / sampled_boxes * targets.all();
    }
};

class Sizes {
public:
    Sizes(const GaussPointSets& points, int dimension, const BoxAim& aim, int threads)
        : points_(points), dimension_(dimension), aim_(aim), threads_(threads),
          d_(static_cast<std::size_t>(dimension)), sources_(sample_of(points.sources, d_)),
          targets_(sample_of(points.targets, d_)) {}

    /// Of boxes with that side, in σ; seconds are 0 where they are those of another side.
    [[nodiscard]] BoxSize of(double side) {
        const auto& frame = points_.frame;
        const auto lattice = fitted_lattice(points_.extent, frame, dimension_, side * frame.sigma);
        if (lattice.count == last_.count && lattice.side == last_.side) return {};
        last_ = lattice;
        const SampledBoxes sources(lattice, sources_, points_.sources.size() / d_, frame);
        const SampledBoxes others(lattice, targets_, points_.targets.size() / d_, frame);
        const bool self = targets_.empty();
        const bool tells = sources.tells() && (self || others.tells());
        BoxSize best{.side = side * frame.sigma, .seconds = HUGE_VAL};
        for (const bool translates : {false, true}) {
            const int order = tells ? order_in(lattice, frame.sigma, aim_, translates) : 0;
            const double boxes = static_cast<double>(sources.boxes().count());
            const double held = 1.0 + std::min(dimension_, 2); // with the translations on their way
            const bool fits = held * boxes * std::pow(order, dimension_) < aim_.most_numbers;
            if (translates && (order == 0 || !fits)) continue;
            const Estimate estimate{.sources = sources,
                                    .targets = self ? sources : others,
                                    .lattice = lattice,
                                    .costs = BoxCosts(aim_, dimension_, order),
                                    .cutoff = aim_.cutoff * frame.sigma,
                                    .expands = order > 0,
                                    .translates = translates};
            const double seconds = estimate.seconds(threads_);
            if (seconds >= best.seconds) continue;
            best.seconds = seconds;
            best.order = order;
            best.translates = translates;
        }
        return best;
    }

private:
    GaussPointSets points_;
    int dimension_;
    BoxAim aim_;
    int threads_;
    std::size_t d_;
    std::vector<double> sources_, targets_;
    GaussLattice last_;
};

} // namespace

double longest_side(const GaussLattice& lattice) {
    return *std::max_element(lattice.side.begin(), lattice.side.begin() + lattice.dimension);
}

int order_in(const GaussLattice& lattice, double sigma, const BoxAim& aim, bool translates) {
    return box_order({.dimension = lattice.dimension,
                      .radius = 0.5 * longest_side(lattice) / sigma,
                      .translated = translates,
                      .with_gradient = aim.with_gradient},
                     aim.tolerance);
}

// From long sides to short ones, until they are slower.
BoxSize best_box_size(const GaussPointSets& points, int dimension, const BoxAim& aim, int threads) {
    constexpr double step = 0.70710678, longest = 8.0, shortest = 0.2;
    Sizes sizes(points, dimension, aim, threads);
    if (aim.side > 0.0) return sizes.of(aim.side);
    BoxSize best{.seconds = HUGE_VAL};
    int worse = 0;
    for (double side = longest; side > shortest && worse < 2; side *= step) {
        const auto size = sizes.of(side);
        if (size.seconds == 0.0) continue;
        worse = size.seconds > 1.2 * best.seconds ? worse + 1 : 0;
        if (size.seconds < best.seconds) best = size;
    }
    return best;
}

} // namespace farfield
