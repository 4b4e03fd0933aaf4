// Views of lists of numbers, as the tests of sums pass them.
#pragma once

#include <farfield/sum.h>

#include <span>
#include <vector>

namespace farfield::test {

using Values = std::vector<double>;

/// N×3
inline ConstArrayView rows(const Values& values) { return matrix_view(std::span<const double>(values), 3); }
inline ConstArrayView list(const Values& values) { return {std::span<const double>(values)}; }

} // namespace farfield::test
