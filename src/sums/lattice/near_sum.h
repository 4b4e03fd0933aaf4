// Near images: Σ q erfc(αR)/R over all images within a cut-off, which may be longer than the box. Sources and
// targets are sorted into cells; the images around a cell of targets are gathered once for all of them.
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

    /// Images of a source at the place of a target that it is not.
    struct Coincidence {
        std::int64_t target, source;
    };

    /// *Writes* all targets, unless the watch stops it. The coincident pairs, of which none was counted, by
    /// rising target.
    std::vector<Coincidence> compute(std::span<const double> strengths, const LatticeResults& results,
                                     WorkWatch& watch);

    /// Targets times the images that are looked at.
    [[nodiscard]] std::int64_t pairs() const { return pairs_; }

private:
    /// Points in the order of their cells, x fastest.
    struct Cells {
        std::vector<std::int64_t> start; ///< of each cell, and the end
        std::vector<std::int64_t> order; ///< the points' rows
        LatticePoints points;
    };
    /// Images around a cell.
    struct Images;

    [[nodiscard]] std::int64_t cell_of(const LatticePoints& points, std::size_t i) const;
    [[nodiscard]] Cells sorted(const LatticePoints& points) const;
    /// Calls run(first, last, shift) for runs of sources in the order of cells.
    template <class Run>
    void for_runs(std::int64_t cell, const Run& run) const;
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
    std::int64_t pairs_ = 0;
};

} // namespace farfield
