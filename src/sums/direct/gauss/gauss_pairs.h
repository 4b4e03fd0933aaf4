// The loop over pairs of Gaussians for whoever has blocks of targets and ranges of sources: points and
// strengths in the type of the precision.
#pragma once

#include "sums/direct/gauss/gauss_points.h"
#include "sums/direct/gauss/gauss_results.h"

#include <farfield/sum_options.h>

#include <span>
#include <vector>

namespace farfield {

class GaussPairs {
public:
    /// ISA and precision are resolved.
    GaussPairs(const SumProblem& problem, Isa isa, int threads);

    /// Orders as in GaussPoints. Targets that are the sources share their order.
    void set_points(std::span<const double> sources, std::span<const double> targets, const GaussFrame& frame,
                    std::span<const std::int32_t> source_order, std::span<const std::int32_t> target_order);
    void set_strengths(std::span<const double> strengths, std::int64_t vectors, int exponent,
                       std::span<const std::int32_t> source_order);

    /// Adds what the sources of the ranges do to a block of targets, for all vectors.
    void add(const BlockRange& block, std::span<const BlockRange> ranges, GaussSums& sums) const;

private:
    template <class T>
    struct Arrays {
        GaussPoints<T> sources, targets;
        std::vector<RawVector<T>> strengths;
    };
    template <class T>
    void add(const Arrays<T>& arrays, const BlockRange& block, std::span<const BlockRange> ranges,
             GaussSums& sums) const;

    const SumProblem& problem_;
    Isa isa_;
    int threads_;
    double sigma_ = 0.5; ///< in the frame
    Arrays<float> floats_;
    Arrays<double> doubles_; ///< by the precision one of the two is used
};

} // namespace farfield
