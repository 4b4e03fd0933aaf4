// M2L on deep trees: only boxes that hold points, in sorted lists of Morton keys, in place of a dense grid.
#pragma once

#include "studies/fmm_strategies/problem.h"

#include <cstdint>
#include <vector>

namespace farfield::strategies {

/// All levels 2 … depth in one list of boxes. A target's pairs of source and operator lie side by side.
struct SparseProblem {
    int order = 0, depth = 0;
    std::vector<std::int64_t> begin; ///< of the pairs of a box; one more at the end
    std::vector<std::int32_t> source;
    std::vector<std::int16_t> op;
    std::vector<int> level;        ///< of each box
    std::vector<Moment> omega;     ///< boxes × half_size(order)
    std::vector<Moment> operators; ///< as in Problem

    [[nodiscard]] std::size_t boxes() const { return level.size(); }
};

/// Depth 2 to 20; memory grows with the number of points, not with 8^depth.
SparseProblem make_sparse(const Charges& charges, int order, int depth, int threads);

/// A cloud whose density rises towards its centre, in the unit cube.
Charges clustered_charges(std::int64_t n);

/// µ of some boxes by the host.
std::vector<Moment> host_sparse(const SparseProblem& problem, const std::vector<std::size_t>& boxes,
                                int threads);

/// As error_of in problem.h; `mu` holds all boxes.
double sparse_error(const SparseProblem& problem, const std::vector<Moment>& mu,
                    const std::vector<std::size_t>& boxes, const std::vector<Moment>& exact);

struct SparseResult {
    double milliseconds = 0; ///< median
    std::vector<Moment> mu;  ///< of all boxes
};
/// A block a target, a thread for each (l, m), ω and M in shared memory. On the current GPU, in double.
SparseResult run_sparse(const SparseProblem& problem, int repeats);

} // namespace farfield::strategies
