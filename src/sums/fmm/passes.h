// The far field of a tree: from points to multipole expansions (upward.cpp), from cell to cell (across.cpp),
// from local expansions to points (downward.cpp). README.md has the equations.
//
// Lengths are in the units of the tree. A cell of width h and centre c has the multipole expansion M_j = Σ q
// R_j((y − c)/h) and the local expansion φ(x) = (1/h) Σ L_i R_i((x − c)/h), of Σ q/r without a kernel's sign.
#pragma once

#include "backend/threads/parallel.h"
#include "backend/threads/work_watch.h"
#include "base/aligned.h"
#include "sums/direct/cpu/tiles.h"
#include "sums/fmm/cell_blocks.h"
#include "sums/fmm/common/cell_expansions.h"
#include "sums/fmm/common/rank_share.h"
#include "sums/fmm/operators.h"
#include "sums/lattice/images/image_operator.h"
#include "sums/tree/near_lists.h"
#include "sums/tree/octree.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace farfield {

/// An expansion, its derivatives along x, y, z, and the second ones xx, xy, xz, yy, yz, zz; of harmonics zz
/// follows, as the sum of xx, yy and zz is 0.
constexpr std::size_t derivative_sets = 10;

template <class T>
class FmmPasses {
public:
    /// The tree, the lists and the share must outlive it. Each rank has the multipole expansions that it
    /// forms or gets, and the local ones of cells that hold targets of its own.
    /// @param levels  cells send expansions to others of their level on the first so many levels only
    /// @param images  of a periodic tree: what all cells of level 0, and their images, send each other
    FmmPasses(const Octree& tree, const NearLists& lists, const RankShare& share,
              std::shared_ptr<const FmmOperators<T>> operators, int levels, Isa isa, int threads,
              std::shared_ptr<const ImageOperator> images = nullptr);

    /// Told of the work done, in multiply-adds; once stopped, passes end early and leave what they made
    /// unfinished.
    void set_watch(WorkWatch* watch) { watch_ = watch; }
    /// Any cell sends its expansion to another.
    [[nodiscard]] bool translates() const;
    /// Multiply-adds of the passes over all cells and points, of all ranks.
    [[nodiscard]] double work() const;

    /// One pass a call, in this order. Strengths in the order of the tree's sources, dipoles N×3 or empty;
    /// they must outlive `translate`.
    void form_multipoles(std::span<const double> strengths, std::span<const double> dipoles = {}); ///< P2M
    void gather_multipoles();  ///< M2M; of several ranks, what they send each other is then under way
    void receive_multipoles(); ///< waits for it, and gathers what cells of several ranks have
    void translate();          ///< M2L, and P2L of lists.sources
    void spread_locals();      ///< L2L
    /// L2P, and M2P of lists.multipoles; adds to Σ q/r, Σ q (x − y)/r³ and ∂² Σ q/r, in the order of the
    /// tree's targets.
    void evaluate(const TileSums& sums);

private:
    struct PointScratch;
    /// Multipole expansions around a parent: of each octant of each of its neighbours, null where there is
    /// none.
    using Surroundings = std::vector<const T*>;

    void form(const TreeCell& cell, const TreeCell& points, bool inverted, T* expansion,
              PointScratch& scratch) const;
    void form_dipoles(const TreeCell& cell, const TreeCell& points, bool inverted, T* expansion,
                      PointScratch& scratch) const;
    void sum_functions(const FunctionTable<T>& table, PointScratch& scratch) const;
    void evaluate_leaf(std::size_t leaf, const TileSums& sums, PointScratch& scratch) const;
    void add_values(const TreeCell& leaf, const TreeCell& of, bool inverted, const TileSums& sums,
                    PointScratch& scratch) const;
    void derive(const T* expansion, bool inverted, std::size_t sets, PointScratch& scratch) const;
    void add_second_derivatives(bool inverted, std::size_t sets, PointScratch& scratch) const;
    void evaluate_sets(bool inverted, std::size_t sets, PointScratch& scratch) const;
    /// Adds to each expansion what its eight sources send, by mirror images; null where there is none.
    void send(const Translation<T>& translation, const std::vector<const void*>& sources,
              const std::vector<void*>& expansions, AlignedVector<T>& scratch) const;
    /// Cells of one level, one after the other.
    void translate_block(std::span<const std::int32_t> cells);
    void add_points(std::int32_t begin, std::int32_t end);
    /// Level 0 of a periodic tree, through the sums of all images.
    void translate_images();
    /// Cells of this level are the first that send each other expansions one by one.
    [[nodiscard]] int first_level_across() const { return images_ != nullptr ? 1 : 0; }
    void send_class(std::size_t offset_class, const Translation<T>& translation,
                    const std::vector<const void*>& sources, const std::vector<void*>& expansions,
                    AlignedVector<T>& scratch) const;
    /// M2L of cells in lanes, below level 0.
    struct Lanes;
    template <class Wanted>
    void gather_levels(const Wanted& wanted);
    void make_groups();
    [[nodiscard]] std::vector<CellGroup> groups_of_level(const Octree& whole, int level) const;
    [[nodiscard]] double cost_of_group(const Octree& tree, const CellGroup& group) const;
    void translate_in_groups();
    [[nodiscard]] std::vector<std::int32_t> own_cells(std::span<const std::int32_t> of_whole) const;
    struct LaidOut;
    void translate_group(const CellGroup& group);
    void translate_together(std::span<const CellGroup> groups);
    /// Without the sources, which `lay_out` adds.
    [[nodiscard]] LaidOut laid_out(const CellGroup& group) const;
    void lay_out(LaidOut& group, std::size_t octant) const;
    void lay_out_block(LaidOut& group, std::size_t octant) const;
    void lay_out_listed(LaidOut& group, std::size_t octant) const;
    void serve(const LaidOut& group, std::size_t octant);
    /// The multipole expansion of a child, or zeros.
    [[nodiscard]] const T* child_or_zeros(std::int32_t parent, std::size_t octant) const;
    /// M2L by rotation: targets of one level and octant, as many as the loop has lanes.
    using Batch = std::vector<std::int32_t>;
    void translate_rotated();
    [[nodiscard]] std::vector<Batch> batches() const;
    void translate_batch(const Batch& targets);
    [[nodiscard]] bool find_lanes(const Batch& targets, std::size_t offset,
                                  const std::vector<Surroundings>& around,
                                  std::vector<const void*>& sources) const;
    /// Work for a cell of this octant, as `rotated_work` counts it.
    [[nodiscard]] double rotated_work_of(int octant) const;
    /// Where a cell of an octant finds the sender at an offset from it: a place in its parent's surroundings;
    /// −1: none.
    [[nodiscard]] std::int32_t sender_place(int octant, const std::array<int, 3>& offset) const;
    void list_senders();
    void surround(std::int32_t parent, Surroundings& out) const;
    void find_senders(std::int32_t target, std::size_t offset_class, const Surroundings& surroundings,
                      const void** out) const;
    [[nodiscard]] const T* multipole_of(std::int32_t cell) const;
    [[nodiscard]] std::vector<std::int32_t> task_bounds() const;
    [[nodiscard]] double point_work(double points) const;
    /// Calls body(begin, end) for parts of this rank's leaves: many, and each large enough for what it has to
    /// allocate.
    template <class Body>
    void each_own_leaf(const Body& body) const {
        const auto [first, last] = share_.own_leaves();
        const auto leaves = static_cast<std::size_t>(last - first);
        const auto part = std::clamp<std::size_t>(leaves / (16 * static_cast<std::size_t>(threads_)), 4, 256);
        parallel_parts(
            threads_, leaves,
            [&, from = static_cast<std::size_t>(first)](std::size_t begin, std::size_t end) {
                if (!stopped()) body(from + begin, from + end);
            },
            part);
    }
    [[nodiscard]] bool stopped() const { return watch_ != nullptr && watch_->stopped(); }
    void done(double work) const {
        if (watch_ != nullptr) watch_->done(work);
    }

    const Octree& tree_;
    const NearLists& lists_;
    const RankShare& share_;
    std::shared_ptr<const FmmOperators<T>> operators_;
    std::shared_ptr<const ImageOperator> images_; ///< null: space is open
    int levels_;
    Isa isa_;
    int threads_;
    std::span<const double> strengths_, dipoles_;
    CellExpansions<T> multipoles_, locals_;
    RankShare::Arriving<T> arriving_;
    AlignedVector<T> zeros_;
    /// By a target's octant, class of offsets and mirror image, as `sender_place` says; by rotation, by
    /// octant and offset.
    std::vector<std::int32_t> senders_;
    std::optional<CellBlockSenders<T>> block_senders_;
    std::vector<CellGroup> groups_; ///< of this rank's cells
    WorkWatch* watch_ = nullptr;
};

} // namespace farfield
