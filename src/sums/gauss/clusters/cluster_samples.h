// What errors of a plan's size make of a sum, seen at some targets and for some sources. The bound of
// bound.h takes the worst direction and place of a source; most sources are far from that.
#pragma once

#include "sums/gauss/clusters/cluster_plan.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

class ClusterSamples {
public:
    /// Of sources (N×d) and targets (M×d), in units of σ: `count` sources, and targets of some blocks.
    ClusterSamples(std::span<const double> sources, std::span<const double> targets, int dimension,
                   const PointBlocks& blocks, SelfTargets self, std::size_t count);

    /// The largest value of a sum with strengths of 1/N; with the gradient, no more than its largest length
    /// times σ√e.
    [[nodiscard]] double scale(bool with_gradient) const;
    /// The largest error of all outputs that the plan computes, for strengths of one sign or of both:
    /// relative to the largest value, or to Σ|q| and Σ|q|/(σ√e).
    [[nodiscard]] double error(const ClusterPlan& plan, bool relative_to_sum, bool with_gradient) const;

private:
    /// Largest over targets: of a sum of all sources, and of the root of the sum of squares.
    struct Size {
        double sum = 0.0, root = 0.0;
        void widen(const Size& by);
    };
    struct Target {
        std::size_t block;
        std::vector<double> x;
    };
    struct Sizes {
        Size value, gradient;
    };
    [[nodiscard]] Sizes values_at(const Target& target) const;
    [[nodiscard]] Sizes errors_at(const Target& target, const ClusterPlan& plan) const;

    std::size_t stride_;
    std::vector<Target> targets_;
    std::vector<double> sources_;
    std::vector<std::int32_t> rows_; ///< of sources_
    bool self_;
    double own_ = 0.0; ///< what a target's own source adds, of all
    Size value_, gradient_;
};

} // namespace farfield
