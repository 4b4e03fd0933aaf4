// Exact sums at some targets in vectors, many sources abreast: what verification takes for 1/r in space, for
// logarithms in the plane and for Gaussians. One target at a time in long double would take longer than the
// sum itself.
#pragma once

#include "sums/kernels/kernel.h"

#include <farfield/sum_options.h>

#include <span>
#include <vector>

namespace farfield {

/// True if `exact_rows` has the kernel. It has no dipoles and no Hessian.
bool has_exact_rows(const KernelInfo& kernel, int dimension);

struct ExactRowsTask {
    const KernelInfo* kernel = nullptr;
    /// Sums of the same sources; `with_hessian` and `dipoles` are not looked at.
    std::span<const ExactTask> targets;
    bool with_potential = true;
    /// With pairs of doubles, which have more digits than long double, in place of doubles. In doubles a term
    /// gets a few rounding errors of its size; terms are added in blocks, and blocks without an error. These
    /// errors have any sign, so that they are some 1e-16 times the root of the sum of squared terms: of a sum
    /// whose terms have any sign too, some 1e-16 of the sum.
    bool in_pairs = false;
    Isa isa = Isa::automatic;
};

/// The potential and the field, or the gradient, of each target in the units and with the sign of the kernel,
/// as `KernelInfo::exact` has them; without potential there are zeros in its place. Pairs at one place that
/// have no value are left out. Pairs within a vortex's core, and those whose squared distance nears the ends
/// of a double's range, are computed by the kernel's own formula, in long double but for cores without
/// `in_pairs`. The sums of a target do not depend on the others, which read the same sources once together.
/// @pre has_exact_rows
std::vector<std::vector<double>> exact_rows(const ExactRowsTask& task);

} // namespace farfield
