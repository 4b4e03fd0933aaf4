// What crosses the border between the library and the loops over complex expansions in the plane that are
// compiled once for each instruction set: plain structures over raw pointers. All numbers are doubles.
//
// With z = c + h u of a cell of width h around c, sources q_j at v_j and F(z) = Σ q_j ln(z − z_j), w = F'(z):
//     multipole  a_k = Σ q v^k         w = (1/h) Σ a_k u^(−k−1),   F = a_0 ln(h u) − Σ_{k≥1} a_k u^(−k)/k
//     local      g_n                   w = (1/h) Σ g_n u^n,        Re F = C + Re Σ g_n u^(n+1)/(n+1)
// So C is the only number of a local expansion that is about logarithms. It is kept apart, and real.
//
// Strengths are real, or complex. The potential of complex strengths has real parts of two functions F, one
// of the real and one of the imaginary strengths: two *sets* of coefficients. Where the field alone is
// wanted, one set with complex q is enough.
//
// An expansion is, for each set, `size` real parts and `size` imaginary parts; behind the order they are
// zero.
#pragma once

#include <cstdint>

namespace farfield {

/// Orders go up to this one.
constexpr int most_laurent_order = 63;
constexpr int most_laurent_size = 64;

/// Of points, in the order of a tree.
struct LaurentPoints {
    const double* x = nullptr;
    const double* y = nullptr;
    std::int64_t count = 0;
};

/// The cell of an expansion, and what it looks like.
struct LaurentCell {
    double x = 0.0, y = 0.0; ///< centre
    double width = 1.0;
    double log_width = 0.0;
    int order = 0, sets = 1;
    std::int64_t size = 0;
};

/// Adds sources to an expansion: to a multipole one (P2M), or, `outside` of the cell, to a local one (P2L),
/// g_n −= Σ q v^(−n−1), C += Σ q ln(h |v|).
struct LaurentFormTask {
    LaurentCell cell;
    LaurentPoints points;
    const double* strengths[2] = {nullptr,
                                  nullptr}; ///< of each set; of one set also imaginary parts, or null
    bool outside = false;
    double* expansion = nullptr;
    double* constants = nullptr; ///< C of each set; of local expansions only
};

/// Adds the values of an expansion at points: a local one (L2P), or, `outside`, a multipole one (M2P).
struct LaurentValueTask {
    LaurentCell cell;
    LaurentPoints points;
    bool outside = false;
    const double* expansion = nullptr;
    const double* constants = nullptr;         ///< of local expansions
    double* potential[2] = {nullptr, nullptr}; ///< Re F of each set; null: not wanted
    double* field[2] = {nullptr, nullptr};     ///< Re w, −Im w; of two sets w = w_0 + i w_1
};

/// y = D_out·matrix·D_in·x: matrix real, the others diagonal and complex. To the constant is added
/// Re(factor·Σ row_k (D_in x)_k), and of multipole expansions x_0 times the logarithm of the distance.
struct LaurentShift {
    int columns = 0, rows = 0;                ///< that are used
    const double* matrix = nullptr;           ///< by columns, `size` rows each
    const double* in[2] = {nullptr, nullptr}; ///< real parts, imaginary parts
    const double* out[2] = {nullptr, nullptr};
    const double* row = nullptr; ///< null: constants are left alone
    double factor[2] = {1.0, 0.0};
    bool has_logarithm = false;
    double log_distance = 0.0; ///< in widths of the cell
};

/// Adds to one expansion what several others become.
struct LaurentShiftTask {
    std::int64_t size = 0;
    int sets = 1;
    double log_width = 0.0;
    std::int64_t count = 0;
    const LaurentShift* const* shifts = nullptr;
    const double* const* sources = nullptr;
    const double* const* source_constants = nullptr; ///< added as they are; null: there are none
    double* expansion = nullptr;
    double* constants = nullptr;
};

using LaurentFormFunction = void (*)(const LaurentFormTask*);
using LaurentValueFunction = void (*)(const LaurentValueTask*);
using LaurentShiftFunction = void (*)(const LaurentShiftTask*);

extern "C" {
void ff_laurent_form_scalar(const LaurentFormTask*);
void ff_laurent_form_sse42(const LaurentFormTask*);
void ff_laurent_form_avx2(const LaurentFormTask*);
void ff_laurent_form_avx512(const LaurentFormTask*);
void ff_laurent_value_scalar(const LaurentValueTask*);
void ff_laurent_value_sse42(const LaurentValueTask*);
void ff_laurent_value_avx2(const LaurentValueTask*);
void ff_laurent_value_avx512(const LaurentValueTask*);
void ff_laurent_shift_scalar(const LaurentShiftTask*);
void ff_laurent_shift_sse42(const LaurentShiftTask*);
void ff_laurent_shift_avx2(const LaurentShiftTask*);
void ff_laurent_shift_avx512(const LaurentShiftTask*);
}

} // namespace farfield
