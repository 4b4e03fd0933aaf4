// A coordinate as the sums want it: one number, or a float and what rounding to it took off.
#pragma once

#include "dynamics/integrators/motion_formulas.h"
#include "sums/direct/cuda/pair.cuh"

#include <type_traits>

namespace farfield::cuda {

template <class PointType>
constexpr bool is_mixed = std::is_same_v<PointType, MixedPoint>;

/// Only floats need an origin among far-off points.
template <class PointType>
constexpr bool needs_frame = std::is_same_v<typename PointType::real, float>;

/// 16-byte pieces of a point.
template <class PointType>
constexpr int pieces_of = static_cast<int>(sizeof(PointType) / 16);

template <class PointType>
struct PackedCoordinate {
    typename PointType::real high, low;
};

template <class PointType>
__device__ __forceinline__ PackedCoordinate<PointType> pack(double x, double origin, double scale) {
    using Real = typename PointType::real;
    const double place = in_frame(x, origin, scale);
    const Real high = static_cast<Real>(place);
    if constexpr (is_mixed<PointType>)
        return {high, static_cast<float>(place - static_cast<double>(high))};
    else
        return {high, Real(0)};
}

} // namespace farfield::cuda
