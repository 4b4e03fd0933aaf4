// Bounds of the errors of the outputs at each target of a tree, which its parts add up.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace farfield {

/// Potential, field and Hessian, by how often the potential is differentiated.
constexpr std::size_t bounded_outputs = 3;

/// Of one output at each target, in the order of the tree; empty where the output is not wanted. In the units
/// of the tree, of Σ q/r without a kernel's sign.
struct TargetBounds {
    std::vector<double> truncation; ///< of expansions
    std::vector<double> rounding;
};

using OutputBounds = std::array<TargetBounds, bounded_outputs>;

} // namespace farfield
