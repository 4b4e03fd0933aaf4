// What crosses into the loops over clusters' expansions, compiled once for each instruction set: raw
// pointers. Coefficients stand in the order of expansion.h.
#pragma once

#include "sums/kernels/exact.h"

#include <cstdint>

namespace farfield {

/// Σ q e^(−|a|²/2) a^α over points [begin, end), a = (x − centre)/σ, for all α of total degree < order.
struct ClusterMomentTask {
    int dimension = 1;
    int order = 1;
    const double* x[most_dimensions] = {}; ///< padded, in the frame
    double centre[most_dimensions] = {};
    double inverse_sigma = 1.0;
    const double* strengths = nullptr; ///< padded
    std::int64_t begin = 0, end = 0;
    std::int64_t terms = 0;
    double* scratch = nullptr; ///< room for terms·cluster_lanes numbers
    double* moments = nullptr; ///< stored
};

/// An expansion that some targets take.
struct ClusterExpansion {
    const double* coefficients = nullptr;
    const double* centre = nullptr;
    int order = 1;
};

/// Adds values and, if wanted, gradients of expansions at points [begin, end).
struct ClusterValueTask {
    int dimension = 1;
    const double* x[most_dimensions] = {}; ///< padded, in the frame
    double inverse_sigma = 1.0;
    std::int64_t begin = 0, end = 0;
    const ClusterExpansion* expansions = nullptr;
    std::int64_t count = 0;
    double* potential = nullptr;
    double* gradient[most_dimensions] = {};
};

/// The most lanes that a register has.
inline constexpr std::int64_t cluster_lanes = 8;

} // namespace farfield

/// One for each instruction set (cmake/farfield_isa.cmake).
#define FF_DECLARE_CLUSTERS(isa)                                                                             \
    extern "C" void ff_cluster_moments_##isa(const farfield::ClusterMomentTask* task);                       \
    extern "C" void ff_cluster_values_##isa(const farfield::ClusterValueTask* task)
FF_DECLARE_CLUSTERS(scalar);
FF_DECLARE_CLUSTERS(sse42);
FF_DECLARE_CLUSTERS(avx2);
FF_DECLARE_CLUSTERS(avx512);
#undef FF_DECLARE_CLUSTERS
