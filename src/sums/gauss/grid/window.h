// The window of a rule as polynomials, one for each grid point that it touches.
#pragma once

#include "sums/gauss/grid/rules.h"

#include <vector>

namespace farfield {

/// A point at x, in grid units, touches g = ⌈x − w/2⌉ + l for l = 0 … w − 1. With u = 2(⌈x − w/2⌉ − x) + w −
/// 1 in [−1, 1) tap l is a polynomial of u. Coefficients are rows of `columns` taps, from the highest power;
/// columns from w on are 0.
struct GridWindow {
    /// @param beyond_width  what the degree is above w
    explicit GridWindow(const GridRule& rule, int beyond_width = 4);

    int width;
    int columns; ///< w in whole vectors of 8
    int degree;
    std::vector<double> value;
    std::vector<double> slope; ///< derivative by x, in grid units; of degree − 1
};

} // namespace farfield
