// A sum over a periodic box: near images one by one, the smooth part by a method of its own, and what is
// left. Of ranks each has all points, sums at targets of its own, and gets the sums of all.
#pragma once

#include "sums/lattice/lattice_terms.h"
#include "sums/lattice/smooth_part.h"

#include <farfield/sum.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace farfield {
namespace comm {
class Transport;
} // namespace comm

class LatticeSum {
public:
    /// `near`: where near images end. `smooth` has the same splitting, and the same ranks: null where this
    /// process is alone.
    LatticeSum(const SumProblem& problem, const Splitting& splitting, double near,
               std::unique_ptr<SmoothPart> smooth, Isa isa, int threads, comm::Transport* ranks = nullptr);

    /// N×3 and M×3 as the caller gave them. `own`: of each target the source that it is, or −1; empty with no
    /// targets: targets are the sources.
    void set_points(std::span<const double> sources, std::span<const double> targets,
                    std::span<const std::int64_t> own);

    /// *Writes* what the kernel gives, in the caller's units. Fills passes and the lattice's part of the
    /// report.
    /// @throws InvalidArgument for strengths that are not neutral, and for coincident points; Interrupted
    /// where one of the ranks is to stop.
    void compute(std::span<const double> strengths, const LatticeResults& results, const SumHooks& hooks,
                 SumReport& report);

private:
    [[nodiscard]] bool self() const { return targets_as_given_.empty(); }
    [[nodiscard]] std::int64_t targets() const;
    LatticeResults own_results(const LatticeResults& results);
    void share(const LatticeResults& own, const LatticeResults& results) const;
    [[nodiscard]] std::vector<NearSum::Coincidence>
    of_all(std::vector<NearSum::Coincidence> coincidences) const;

    SumProblem problem_;
    PeriodicFrame frame_;
    Splitting splitting_;
    double cutoff_;
    int threads_;
    comm::Transport* ranks_;
    NearSum near_;
    std::unique_ptr<SmoothPart> smooth_;
    LatticePoints sources_, targets_;
    LatticePoints own_targets_;                   ///< of a rank, in the order of near cells
    RawVector<double> own_potential_, own_field_; ///< at them
    std::vector<double> sources_as_given_, targets_as_given_;
    std::vector<std::int64_t> own_;
};

} // namespace farfield
