// The caller's points, weights and options of a density, checked and on the host.
#pragma once

#include "sums/around/read_arrays.h"
#include "sums/around/spread.h"

#include <farfield/density.h>

#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

struct DensityInput {
    int dimension = 0;
    bool self = true; ///< targets are the points
    std::vector<double> points, targets, weights;
    std::vector<double> sigmas; ///< of each point's own Gaussian; empty: one for all

    [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(weights.size()); }
    [[nodiscard]] std::int64_t target_count() const {
        return self ? count() : static_cast<std::int64_t>(targets.size()) / dimension;
    }
};

/// @throws InvalidArgument for options that do not go together or with what is given.
void check_density_options(const DensityPoints& given, const DensityOptions& options);

/// @throws InvalidArgument for wrong shapes and numbers that are not finite (names the row).
DensityInput read_density_input(const DensityPoints& given);

/// W − w_i, without cancellation.
class OtherWeights {
public:
    /// `weights` and `sums` have to outlive it. @throws InvalidArgument where one point has all the weight.
    OtherWeights(std::span<const double> weights, const WeightSums& sums);

    [[nodiscard]] long double of(std::int64_t row) const {
        return row == sums_.heaviest ? without_heaviest_
                                     : sums_.sum - weights_[static_cast<std::size_t>(row)];
    }
    /// The largest over the smallest: by how much an error of a sum, relative to the largest sum, may grow as
    /// one of what it becomes when divided by these.
    [[nodiscard]] double growth() const {
        return static_cast<double>((sums_.sum - sums_.least) / without_heaviest_);
    }

private:
    std::span<const double> weights_;
    const WeightSums& sums_;
    long double without_heaviest_ = 0;
};

} // namespace farfield
