// Which boxes there are, how long their expansions are, and which of the four interactions each pair of near
// boxes takes. Everything depends on the points and the aim alone.
#pragma once

#include "sums/gauss/boxes/box_sizes.h"
#include "sums/gauss/boxes/costs.h"
#include "sums/gauss/boxes/occupied_boxes.h"
#include "sums/gauss/boxes/translation_stages.h"
#include "sums/gauss/ways/way.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

enum class BoxAct : std::uint8_t {
    pairs,      ///< point by point
    hermite,    ///< the Hermite expansion of the source box, at the targets
    taylor,     ///< sources to the Taylor expansion of the target box
    translation ///< the Hermite expansion translated to the Taylor expansion
};
inline constexpr std::size_t box_acts = 4;

class BoxPlan {
public:
    void set_points(const GaussPointSets& points, int dimension, int threads, const BoxAim& aim);

    /// What a source box has of a Hermite expansion, a target box of a Taylor expansion.
    enum Expansion : std::uint8_t { none, formed, translated };

    [[nodiscard]] const GaussLattice& lattice() const { return lattice_; }
    [[nodiscard]] const SortedKeys& sources() const { return sources_; }
    [[nodiscard]] const SortedKeys& targets() const { return self_ ? sources_ : targets_; }
    [[nodiscard]] const OccupiedBoxes& source_boxes() const { return source_boxes_; }
    [[nodiscard]] const OccupiedBoxes& target_boxes() const { return self_ ? source_boxes_ : target_boxes_; }
    /// p, 0 for no expansions.
    [[nodiscard]] int order() const { return order_; }
    [[nodiscard]] std::size_t terms() const { return terms_; }
    /// In σ, the longest.
    [[nodiscard]] double side() const;
    [[nodiscard]] double cutoff() const { return aim_.cutoff; } ///< in σ
    [[nodiscard]] Expansion hermite(std::size_t source_box) const { return hermite_[source_box]; }
    [[nodiscard]] Expansion taylor(std::size_t target_box) const { return taylor_[target_box]; }
    [[nodiscard]] BoxAct act(std::size_t source_box, std::size_t target_box) const;
    /// Calls visit(source box) for those within the cut-off of a target box.
    template <class Visit>
    void visit_sources(std::size_t target_box, const Visit& visit) const {
        source_boxes_.visit_near(lattice_.box_of(target_boxes().keys()[target_box]), cutoff_, visit);
    }
    [[nodiscard]] const TranslationStages& stages() const { return stages_; }
    [[nodiscard]] const BoxCosts& costs() const { return costs_; }

    /// Pairs of boxes, by BoxAct; and pairs of points of those that take these.
    [[nodiscard]] const std::array<std::int64_t, box_acts>& box_pairs() const { return box_pairs_; }
    [[nodiscard]] std::int64_t point_pairs() const { return point_pairs_; }
    /// By the rates, on one thread, for all vectors: of expansions from sources, translations, and the rest.
    struct Seconds {
        double forms = 0.0, translations = 0.0, values = 0.0;
        [[nodiscard]] double all() const { return forms + translations + values; }
    };
    [[nodiscard]] const Seconds& seconds() const { return seconds_; }

private:
    void sort_points(const GaussPointSets& points, const BoxSize& size, int threads);
    void set_expansions(const BoxSize& size, int threads);
    void set_translated(int threads);
    void set_formed(int threads);
    void drop_unused(int threads);
    void count(int threads);
    template <class Visit>
    void visit_targets(std::size_t source_box, const Visit& visit) const {
        target_boxes().visit_near(lattice_.box_of(source_boxes_.keys()[source_box]), cutoff_, visit);
    }
    [[nodiscard]] double numbers() const;
    [[nodiscard]] std::vector<std::uint64_t> keys_of(const OccupiedBoxes& boxes,
                                                     const std::vector<Expansion>& expansions) const;

    int dimension_ = 1;
    bool self_ = true;
    BoxAim aim_;
    double sigma_ = 1.0, cutoff_ = 0.0; ///< in the frame
    GaussLattice lattice_;
    SortedKeys sources_, targets_;
    OccupiedBoxes source_boxes_, target_boxes_;
    int order_ = 0;
    std::size_t terms_ = 0;
    BoxCosts costs_;
    std::vector<Expansion> hermite_, taylor_;
    TranslationStages stages_;
    std::array<std::int64_t, box_acts> box_pairs_{};
    std::int64_t point_pairs_ = 0;
    Seconds seconds_;
};

} // namespace farfield
