// What a task needs to form and evaluate expansions at the points of a cell.
#pragma once

#include "sums/fmm/passes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace farfield {

/// Points of a cell as the loops take them: relative to a centre, in its cell's widths, in the type of the
/// expansions.
template <class T>
struct FmmPasses<T>::PointScratch {
    static constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(T));

    AlignedVector<T> x[3], weight, values[derivative_sets], sums, lanes, packed;
    AlignedVector<T> derivative[derivative_sets]; ///< an expansion and its derivatives
    AlignedVector<T> lower;                       ///< a derivative before the next
    std::int64_t count = 0, padded = 0;

    /// `inverted`: x/|x|², with 1/|x| as weight, at which R_l^m is R_l^m(x)/|x|^(2l) of the points
    /// themselves.
    void set_points(const TreePoints& points, BlockRange range, const std::array<double, 3>& centre,
                    double width, bool inverted) {
        count = range.size();
        padded = (count + line - 1) / line * line;
        const auto size = static_cast<std::size_t>(padded);
        for (auto& axis : x) axis.assign(size, T(0));
        weight.assign(size, T(0));
        const double scale = 1.0 / width;
        for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
            const auto from = static_cast<std::size_t>(range.begin) + i;
            double u[3];
            for (std::size_t axis = 0; axis < 3; ++axis)
                u[axis] = (points.x[axis][from] - centre[axis]) * scale;
            double factor = 1.0;
            if (inverted) {
                const double r2 = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
                for (auto& component : u) component /= r2;
                factor = 1.0 / std::sqrt(r2);
            }
            for (std::size_t axis = 0; axis < 3; ++axis) x[axis][i] = static_cast<T>(u[axis]);
            weight[i] = static_cast<T>(factor);
        }
    }

    [[nodiscard]] ExpansionPoints points() const { return {padded, {x[0].data(), x[1].data(), x[2].data()}}; }
};

} // namespace farfield
