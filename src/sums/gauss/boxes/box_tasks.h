// What crosses into the loops over boxes' expansions, compiled once for each instruction set: raw pointers.
// An expansion has p^d numbers, the first axis slowest. ψ and μ are those of hermite_function.h.
#pragma once

#include "sums/kernels/exact.h"
#include "sums/points/block_lists.h"

#include <cstdint>

namespace farfield {

/// The most lanes that a register has, and a row of p numbers in whole registers.
inline constexpr std::int64_t box_lanes = 8;
constexpr std::int64_t box_row(std::int64_t order) { return (order + box_lanes - 1) / box_lanes * box_lanes; }

/// The largest p that loops have room for.
inline constexpr int most_loop_order = 48;

/// 1/√(n + 1), √(n/(n + 1)) and √n for n ≤ most_loop_order.
struct BoxRoots {
    double inverse[most_loop_order + 1], ratio[most_loop_order + 1], root[most_loop_order + 1];
    BoxRoots();
};

/// Σ q Π_k μ_{α_k}(u_k), or ψ in place of μ, over the points of some ranges, u = (x − centre)/σ. *Added*.
struct BoxFormTask {
    int dimension = 1;
    int order = 1;
    bool taylor = false;                   ///< ψ
    const double* x[most_dimensions] = {}; ///< in the frame
    double centre[most_dimensions] = {};
    double inverse_sigma = 1.0;
    const double* strengths = nullptr;
    const BlockRange* ranges = nullptr;
    std::int64_t range_count = 0;
    std::int64_t terms = 1;    ///< p^d
    double* scratch = nullptr; ///< room for terms·box_lanes numbers
    double* expansion = nullptr;
    const BoxRoots* roots = nullptr;
};

/// An expansion that some targets take.
struct BoxExpansion {
    const double* numbers = nullptr;
    double centre[most_dimensions] = {};
    bool taylor = false;
};

/// Adds values and, if wanted, gradients of expansions at points [begin, end).
struct BoxValueTask {
    int dimension = 1;
    int order = 1;
    const double* x[most_dimensions] = {}; ///< padded, in the frame
    double inverse_sigma = 1.0;
    std::int64_t begin = 0, end = 0;
    const BoxExpansion* expansions = nullptr;
    std::int64_t count = 0;
    const BoxRoots* roots = nullptr;
    double* potential = nullptr;
    double* gradient[most_dimensions] = {};
};

/// out[r][m] = Σ_i Σ_n in_i[n][r] T_i[n][m], with p rows n of `rows` numbers and T's rows padded.
struct BoxTranslateTask {
    int order = 1;
    std::int64_t rows = 1; ///< p^(d−1)
    const double* const* in = nullptr;
    const double* const* matrices = nullptr;
    std::int64_t count = 0;
    double* out = nullptr;
};

} // namespace farfield

/// One for each instruction set (cmake/farfield_isa.cmake).
#define FF_DECLARE_BOXES(isa)                                                                                \
    extern "C" void ff_box_form_##isa(const farfield::BoxFormTask* task);                                    \
    extern "C" void ff_box_values_##isa(const farfield::BoxValueTask* task);                                 \
    extern "C" void ff_box_translate_##isa(const farfield::BoxTranslateTask* task)
FF_DECLARE_BOXES(scalar);
FF_DECLARE_BOXES(sse42);
FF_DECLARE_BOXES(avx2);
FF_DECLARE_BOXES(avx512);
#undef FF_DECLARE_BOXES
