// What boxes cost, in seconds on one thread and for all vectors of strengths.
#pragma once

#include "sums/gauss/ways/box_aim.h"

namespace farfield {

/// Of a point, to bring it into boxes, on one thread.
inline constexpr double box_point_seconds = 2.4e-7;

class BoxCosts {
public:
    BoxCosts() = default;
    /// Of expansions with p = order; order 0: of pairs alone.
    BoxCosts(const BoxAim& aim, int dimension, int order);

    [[nodiscard]] double pairs(double sources, double targets) const;
    [[nodiscard]] double value(double targets) const;  ///< of an expansion, at the targets of a box
    [[nodiscard]] double form(double sources) const;   ///< of a Hermite expansion of a box
    [[nodiscard]] double gather(double sources) const; ///< of a box, to the Taylor expansion of another
    /// Of a matrix p×p of an axis with an expansion.
    [[nodiscard]] double product() const { return product_; }

private:
    double pair_ = 0.0, lanes_ = 8.0;
    double value_ = 0.0, form_ = 0.0, reduce_ = 0.0, product_ = 0.0;
};

} // namespace farfield
