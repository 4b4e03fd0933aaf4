// What the benches of the direct sum share: the points, the truth at sampled targets, medians.
#pragma once

#include <farfield/sum.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace farfield {

constexpr double bench_softening = 0.01;

/// A Plummer sphere of equal masses (total 1) in standard N-body units.
struct BenchPoints {
    std::vector<double> xyz;  ///< N×3
    std::vector<double> mass; ///< N
};
BenchPoints make_bench_points(std::int64_t n);

/// The field of gravity at some of the points, summed in long double over all others.
class SampledTruth {
public:
    /// Targets are spread evenly over the first `targets` of the points; `rounded`: points and masses are
    /// rounded to float first, so that a float sum is judged by its arithmetic.
    SampledTruth(const BenchPoints& points, std::size_t targets, bool rounded, double softening,
                 std::size_t samples = 100);

    /// Relative L2 error of `field` (targets×3) at the samples.
    [[nodiscard]] double error(const std::vector<double>& field) const;

private:
    std::vector<std::size_t> rows_;
    std::vector<long double> field_;
};

/// Of the middle two for an even count. @pre `values` is not empty.
double median(std::vector<double> values);

} // namespace farfield
