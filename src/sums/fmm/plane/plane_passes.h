// The far field of a tree in the plane: from points to multipole expansions, from cell to cell, from local
// expansions to points. README.md has the equations. The tree is an octree all of whose points have z = 0, so
// that cells have at most four children, and neighbours in their own layer alone.
#pragma once

#include "backend/threads/work_watch.h"
#include "sums/direct/cpu/tiles.h"
#include "sums/expansions/laurent.h"
#include "sums/fmm/common/cell_expansions.h"
#include "sums/fmm/common/rank_share.h"
#include "sums/tree/near_lists.h"
#include "sums/tree/octree.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

/// What a sum asks of the passes. Strengths are in the order of the tree's sources; they must outlive
/// `translate`.
struct PlaneStrengths {
    std::span<const double> real, imaginary; ///< the second is empty for real strengths
    bool with_potential = true;
    /// Of expansions: a set for each part, where potentials are wanted; otherwise one serves both.
    [[nodiscard]] int sets() const { return !imaginary.empty() && with_potential ? 2 : 1; }
};

class PlanePasses {
public:
    /// The tree, the lists and the share must outlive it. Each rank has the multipole expansions that it
    /// forms or gets, and the local ones of cells that hold targets of its own.
    PlanePasses(const Octree& tree, const NearLists& lists, const RankShare& share, const LaurentOrder& order,
                Isa isa, int threads);

    /// Told of the work done, in multiply-adds; once stopped, passes end early and leave what they made
    /// unfinished.
    void set_watch(WorkWatch* watch) { watch_ = watch; }
    /// Multiply-adds of the passes over all cells and points of a sum, for `set_watch`.
    [[nodiscard]] double work(int sets) const;

    /// One pass a call, in this order.
    void form_multipoles(const PlaneStrengths& strengths); ///< P2M
    void gather_multipoles();  ///< M2M; of several ranks, what they send each other is then under way
    void receive_multipoles(); ///< waits for it, and gathers what cells of several ranks have
    void translate();          ///< M2L, and P2L of lists.sources
    void spread_locals();      ///< L2L
    void
    evaluate(const TileSums& sums); ///< L2P, and M2P of lists.multipoles; adds, in the order of the targets

private:
    /// Shifts to one expansion, and what they shift.
    struct Senders {
        std::vector<const LaurentShift*> shifts;
        std::vector<const double*> sources, constants;

        void clear() {
            shifts.clear();
            sources.clear();
            constants.clear();
        }
    };
    [[nodiscard]] double* constant(std::int32_t cell) {
        return &constants_[static_cast<std::size_t>(cell) * static_cast<std::size_t>(sets_)];
    }
    /// Of a multipole or local expansion.
    [[nodiscard]] std::size_t numbers() const {
        return 2 * static_cast<std::size_t>(sets_) * static_cast<std::size_t>(operators_.size());
    }
    [[nodiscard]] LaurentCell shape_of(const TreeCell& cell) const;
    void form(const TreeCell& cell, const TreeCell& points, bool outside, double* expansion,
              double* constants) const;
    void send(const Senders& senders, int level, double* expansion, double* constants) const;
    [[nodiscard]] double find_senders(std::int32_t target, Senders& out);
    void add_sender(const TreeCell& target, std::int32_t source, Senders& out, double& work);
    void translate_cell(std::int32_t cell, Senders& senders);
    void evaluate_leaf(std::size_t leaf, const TileSums& sums);
    void add_values(const TreeCell& leaf, std::int32_t of, bool outside, const TileSums& sums);
    /// Calls body(cell, senders) for the cells of a level.
    template <class Body>
    void each_cell(int level, const Body& body);
    /// Calls body(leaf) for the leaves of this rank.
    template <class Body>
    void each_own_leaf(const Body& body);
    template <class Wanted>
    void gather_levels(const Wanted& wanted);
    void gather_children(std::int32_t parent, Senders& senders);
    [[nodiscard]] double point_work(double points, int sets) const;
    [[nodiscard]] bool stopped() const { return watch_ != nullptr && watch_->stopped(); }
    void done(double work) const {
        if (watch_ != nullptr) watch_->done(work);
    }

    const Octree& tree_;
    const NearLists& lists_;
    const RankShare& share_;
    LaurentOrder order_;
    LaurentOperators operators_;
    Isa isa_;
    int threads_;
    PlaneStrengths strengths_;
    int sets_ = 1;
    CellExpansions<double> multipoles_, locals_;
    RankShare::Arriving<double> arriving_;
    std::vector<double> constants_; ///< of local expansions
    WorkWatch* watch_ = nullptr;
};

} // namespace farfield
