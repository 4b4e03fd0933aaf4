// What the far images of a box do to points in it: multipole expansions of the box's cells, the operator from
// them to local expansions, and these at the targets. Along three axes the quadratic function comes on top
// that tin foil and a uniform background bring.
#pragma once

#include "backend/threads/work_watch.h"
#include "base/aligned.h"
#include "sums/expansions/translation.h"
#include "sums/lattice/images/image_operator.h"
#include "sums/lattice/near_sum.h"

#include <farfield/sum_options.h>

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

/// The order at which expansions leave relative errors of about `goal`: at separation 1 of points at random,
/// at separation 2 wherever they are.
int image_order(double goal, int separation);
/// The least goal that is aimed at.
inline constexpr double least_image_goal = 2e-13;
inline constexpr int most_image_order = 40;

class FarImages {
public:
    /// @param ranks  that share the work, and have all sources; null: this process is alone
    /// @param own_targets  each rank has targets of its own; otherwise all have all, and get all results
    FarImages(const ImageGrid& grid, int order, Isa isa, int threads, comm::Transport* ranks = nullptr,
              bool own_targets = false);

    /// Points in the box, in its frame. @param targets  null: they are the sources
    void set_points(const LatticePoints& sources, const LatticePoints* targets);
    /// Adds Σ q/r and its negative gradient at the targets, in the order given, unless the watch of any rank
    /// stops it.
    void add(std::span<const double> strengths, const LatticeResults& results, WorkWatch& watch) const;
    /// Multiply-adds of that, of this process.
    [[nodiscard]] double work() const;

    [[nodiscard]] const ImageGrid& grid() const { return operator_->grid(); }

private:
    /// Points by cells.
    struct Cells {
        std::vector<std::int64_t> start; ///< of each cell, and the end
        std::vector<std::int64_t> order; ///< the points' rows
        LatticePoints x;                 ///< from the centre, in widths of a cell
    };
    [[nodiscard]] Cells sorted(const LatticePoints& points) const;
    [[nodiscard]] ComplexExpansion multipole_of(std::size_t cell, std::span<const double> strengths) const;
    /// Each rank makes of(c) for some cells c, by `starts` as share_cell_numbers takes them: all have all.
    [[nodiscard]] std::vector<ComplexExpansion>
    expansions_of_all(std::span<const std::int64_t> starts,
                      const std::function<ComplexExpansion(std::size_t)>& of, WorkWatch& watch) const;
    [[nodiscard]] ComplexExpansion local_of(std::size_t cell, const std::vector<ComplexExpansion>& multipoles,
                                            WorkWatch& watch) const;
    void evaluate(std::size_t cell, const ComplexExpansion& local, const LatticeResults& results) const;

    ImageGrid grid_;
    HarmonicBasis basis_;
    HarmonicScales scales_;
    FunctionTable<double> table_;
    std::shared_ptr<const ImageOperator> operator_;
    Isa isa_;
    int threads_;
    comm::Transport* ranks_;
    bool own_targets_;
    bool self_ = true;
    Cells sources_, targets_;
    LatticePoints source_points_, target_points_; ///< along three axes
};

/// Images in the rim of a box, of points [first, last): places, and the rows of the points that they are of.
struct RimImages {
    RawVector<double> points; ///< N×3
    std::vector<std::int64_t> of;
};
RimImages rim_images(const ImageGrid& grid, const LatticePoints& points, std::int64_t first,
                     std::int64_t last);

} // namespace farfield
