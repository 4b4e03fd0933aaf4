// Points of Gaussians as the loops want them: structure of arrays in any dimension, lengths about those of σ.
#pragma once

#include "base/aligned.h"
#include "sums/direct/gauss/gauss_tile.h"
#include "sums/method/problem.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

/// x' = (x − centre)·2^exponent, σ' = σ·2^exponent in [0.5, 1). In double the centre is 0 but where points
/// lie far off, compared with their extent, and the subtraction is exact: differences of coordinates have no
/// other error than their own rounding.
struct GaussFrame {
    std::array<double, most_dimensions> centre{};
    int exponent = 0;
    double sigma = 0.5;
};

/// The least and the largest coordinate along each axis, of all points (N×d and M×d).
struct GaussExtent {
    std::array<double, most_dimensions> low{}, high{};
};
GaussExtent gauss_extent(std::span<const double> sources, std::span<const double> targets, int dimension,
                         int threads);

/// The frame for points of this extent. @throws InvalidArgument where they lie so far off or apart, compared
/// with σ, that squares of their distances leave the range of the precision.
GaussFrame choose_gauss_frame(const SumProblem& problem, const GaussExtent& extent);

/// @throws InvalidArgument for a frame whose 2^exponent is no normal number: GPUs multiply by it.
void check_gpu_frame(const SumProblem& problem, const GaussFrame& frame);

/// Points in the frame, as T.
template <class T>
class GaussPoints {
public:
    /// `points`: N×dimension. Point i is row order[i], or row i of an empty order. `with_low`: also keep what
    /// rounding to T took off each coordinate.
    void set(std::span<const double> points, int dimension, const GaussFrame& frame,
             std::span<const std::int32_t> order, bool with_low, int threads);
    [[nodiscard]] GaussTilePoints view() const;

private:
    std::array<RawVector<T>, most_dimensions> high_, low_;
};

/// Strengths N×vectors times 2^exponent, each vector by itself and padded, in the order of the points.
template <class T>
std::vector<RawVector<T>> gauss_strengths(std::span<const double> strengths, std::int64_t vectors,
                                          int exponent, std::span<const std::int32_t> order, int threads);

} // namespace farfield
