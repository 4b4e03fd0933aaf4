// Near images: Σ q erfc(αR)/R over all images within a cut-off, which may be longer than the box. Sources and
// targets are sorted into cells; the images around a cell of targets are gathered once for all of them. Ranks
// have cells of targets that follow each other.
#pragma once

#include "backend/threads/work_watch.h"
#include "sums/lattice/periodic_frame.h"
#include "sums/lattice/splitting.h"

#include <farfield/sum_options.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

/// What the targets of a lattice sum get, in the frame. Null: not wanted.
struct LatticeResults {
    double* potential = nullptr; ///< M
    double* field = nullptr;     ///< M×3
};

class NearSum {
public:
    NearSum(const PeriodicFrame& frame, const Splitting& splitting, double cutoff, Isa isa, int threads);

    /// `own`: of each target the source that it is, or −1; empty: targets are the sources.
    void set_points(const LatticePoints& sources, const LatticePoints& targets,
                    std::span<const std::int64_t> own);

    /// Of ranks that share the targets, this one takes its part, which follows from the points alone; all
    /// have about the same number of pairs, when a target counts `of_a_target` pairs more. From now on
    /// results are rows of its own targets, in the order of cells. To be called after `set_points`.
    void divide(int rank, int ranks, double of_a_target);
    /// Of each rank its first target in the order of cells, and at the end their number.
    [[nodiscard]] const std::vector<std::int64_t>& firsts() const { return firsts_; }
    /// The caller's rows of all targets, in the order of cells.
    [[nodiscard]] const std::vector<std::int64_t>& order() const { return sorted_targets().order; }
    /// The rank's own.
    [[nodiscard]] LatticePoints own_targets() const;

    /// Images of a source at the place of a target that it is not.
    struct Coincidence {
        std::int64_t target, source;
    };

    /// *Writes* all targets, or the rank's own, unless the watch stops it. The coincident pairs, of which
    /// none was counted, as the caller's rows, in no order.
    std::vector<Coincidence> compute(std::span<const double> strengths, const LatticeResults& results,
                                     WorkWatch& watch);

    /// Targets times the images that are looked at.
    [[nodiscard]] std::int64_t pairs() const { return pairs_; }
    /// Those of the rank's own.
    [[nodiscard]] std::int64_t own_pairs() const { return own_pairs_; }

private:
    /// Points in the order of their cells, x fastest.
    struct Cells {
        std::vector<std::int64_t> start; ///< of each cell, and the end
        std::vector<std::int64_t> order; ///< the points' rows
        LatticePoints points;
    };
    /// Images around a cell.
    struct Images;

    [[nodiscard]] const Cells& sorted_targets() const { return self_ ? sources_ : targets_; }
    [[nodiscard]] std::int64_t cell_of(const LatticePoints& points, std::size_t i) const;
    [[nodiscard]] Cells sorted(const LatticePoints& points) const;
    /// Calls run(first, last, shift) for runs of sources in the order of cells.
    template <class Run>
    void for_runs(std::int64_t cell, const Run& run) const;
    void count_pairs();
    void gather(std::int64_t cell, Images& images) const;

    PeriodicFrame frame_;
    Splitting splitting_;
    double cutoff_;
    Isa isa_;
    int threads_;
    std::array<std::int64_t, 3> cells_{1, 1, 1}; ///< along each axis
    std::array<double, 3> width_{};              ///< of a cell
    Cells sources_, targets_;
    std::vector<std::int64_t> own_; ///< of a target in the order of cells: its place among the sorted sources
    std::vector<double> strengths_; ///< in the order of cells
    bool self_ = true;
    std::int64_t pairs_ = 0, own_pairs_ = 0;
    std::size_t cells_of_a_part_ = 1;         ///< of consecutive cells of targets
    std::vector<std::int64_t> pairs_of_part_; ///< of each part
    bool divided_ = false;
    std::int64_t first_cell_ = 0, last_cell_ = 0; ///< of the targets that are summed at
    std::vector<std::int64_t> firsts_;
};

} // namespace farfield
