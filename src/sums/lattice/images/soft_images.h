// Far images of softened charges at the points of a box: moments of its cells, the operator from them to
// polynomials around the targets' cells (soft_operator.h), and these at the targets. What FarImages does for
// charges without softening.
#pragma once

#include "backend/threads/work_watch.h"
#include "sums/lattice/images/soft_operator.h"
#include "sums/lattice/near_sum.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace farfield {
namespace comm {
class Transport;
}

class SoftImages {
public:
    /// @param ranks  that share the work, and have all sources; null: this process is alone
    /// @param own_targets  each rank has targets of its own; otherwise all have all, and get all results
    SoftImages(const ImageGrid& grid, double softening, const SoftGoal& goal, int threads,
               comm::Transport* ranks = nullptr, bool own_targets = false);

    /// Points in the box, in its frame. @param targets  null: they are the sources
    void set_points(const LatticePoints& sources, const LatticePoints* targets);
    /// Adds Σ q/√(r²+ε²) and its negative gradient at the targets, in the order given, unless the watch of
    /// any rank stops it.
    void add(std::span<const double> strengths, const LatticeResults& results, WorkWatch& watch) const;
    /// Multiply-adds of that, of this process.
    [[nodiscard]] double work() const;
    /// The total degree of the polynomials.
    [[nodiscard]] int degree() const { return operator_->powers().degree(); }

private:
    /// Points by cells, from their centres in units of their sides.
    struct Cells {
        std::vector<std::int64_t> start, order;
        LatticePoints x;
    };
    [[nodiscard]] Cells sorted(const LatticePoints& points) const;
    [[nodiscard]] std::vector<double> moments_of(std::size_t cell, std::span<const double> strengths,
                                                 WorkWatch& watch) const;
    [[nodiscard]] std::vector<double> local_of(std::size_t cell, std::span<const double> moments,
                                               WorkWatch& watch) const;
    /// Each rank makes of(c) for some cells c, by `starts` as share_cell_numbers takes them: all have all.
    [[nodiscard]] std::vector<double>
    numbers_of_all(std::span<const std::int64_t> starts,
                   const std::function<std::vector<double>(std::size_t)>& of, WorkWatch& watch) const;
    void evaluate(std::size_t cell, std::vector<double> local, const LatticeResults& results,
                  WorkWatch& watch) const;
    [[nodiscard]] const Cells& targets() const { return targets_ ? *targets_ : sources_; }

    ImageGrid grid_;
    std::shared_ptr<const SoftOperator> operator_;
    int threads_;
    comm::Transport* ranks_;
    bool own_targets_;
    Cells sources_;
    std::optional<Cells> targets_;
};

} // namespace farfield
