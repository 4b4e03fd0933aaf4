// A sum over a periodic box by one tree, whose cells have neighbours across its faces. Where points meet, by
// sums over open space, which find and repair what is not finite; also where the highest order does not do.
#pragma once

#include "sums/direct/periodic/box_share.h"
#include "sums/direct/periodic/image_sum.h"
#include "sums/fmm/open_fmm.h"
#include "sums/lattice/lattice_terms.h"
#include "sums/lattice/periodic_frame.h"

#include <optional>
#include <span>
#include <vector>

namespace farfield {

/// What the shape and the costs of the tree follow from: the tolerance is that of the box's own tree.
SumProblem shape_problem(const SumProblem& problem);

/// Where the cube of the tree begins, in periods. Points of a crystal would lie on corners of cells, where
/// expansions converge slowest: it is a quarter of a leaf before 0.
inline double begin_of_box(const LeafGrid& leaves) { return -0.25 / leaves.across(); }

/// What HostSum takes. Ranks all have all points, and give the tree a part each.
class BoxFmm {
public:
    /// @pre has_periodic_tree(problem)
    BoxFmm(const SumProblem& problem, const SumOptions& options);

    [[nodiscard]] int threads() const { return threads_; }
    void set_float_outputs(OutputSet /*outputs*/) {}
    void set_points(RawVector<double> sources, RawVector<double> targets);
    void compute(std::span<const double> strengths, std::span<const double> dipoles,
                 const DirectResults& results, SumReport& report, const SumHooks& hooks);
    bool refine(double error);

private:
    bool refine_tree(double error);
    void make_tree();
    void make_soft();
    void take_images();
    /// What the tree does not sum.
    void add_surroundings(std::span<const double> strengths, const LatticeResults& own,
                          const SumHooks& hooks) const;

    SumProblem problem_;
    SumOptions options_;
    BoxShare share_;
    PeriodicFrame frame_;
    double low_; ///< where the box begins, along all axes
    FarSoftening softening_;
    double goal_;                ///< of errors of softened far images
    std::optional<FmmSum> tree_; ///< or none, beside `by_images_`
    int threads_ = 1;
    std::optional<SoftImages> soft_;             ///< of `softening_`
    std::optional<ImageSum<OpenFmm>> by_images_; ///< in place of the tree
    bool stays_with_images_ = false;             ///< whatever the points
    std::vector<double> refinements_;            ///< errors that the tree was refined for
    RawVector<double> sources_as_given_, targets_as_given_;
    LatticePoints sources_, targets_; ///< in the box
};

} // namespace farfield
