// What crosses the border between the library and the loops over expansions, compiled once for each
// instruction set: plain structures and C functions over raw pointers, ff_<what>_<isa>. Numbers are float or
// double, as `wide` says.
#pragma once

#include "sums/expansions/parity_basis.h"

#include <cstdint>

namespace farfield {

enum class Functions : std::uint8_t {
    harmonics, ///< in pairs of a cosine and a sine function, order by order: for m = 0 … p, degrees l = m … p
    polynomials ///< in pairs of T_a and T_a+1 along x: for c = 0 … q, b = 0 … q − c, a = 0, 2, … q − b − c
};

/// The highest order of polynomials: the loops keep so many values an axis.
constexpr int most_polynomial_order = 20;

/// Evaluates all functions of a basis, in pairs.
struct FunctionLoop {
    Functions functions = Functions::harmonics;
    int order = 0;
    int pairs = 0;
    bool wide = true;
    /// Of harmonics:
    const void* diagonal = nullptr;   ///< of order m, p + 1 numbers
    const void* climb = nullptr;      ///< of each (m, l), in the order of the loop
    const void* climb_back = nullptr; ///< with its sign
};

/// Points in lanes: `count` is a multiple of the numbers in a cache line; weights of the padding are 0, and
/// its coordinates finite.
struct ExpansionPoints {
    std::int64_t count = 0;
    const void* x[3] = {nullptr, nullptr, nullptr};
};

/// sums[2 t] and sums[2 t + 1] become Σ weight·function over the points, for the two functions of pair t.
/// `scratch`: a cache line for each of these numbers.
struct FormTask {
    FunctionLoop functions;
    ExpansionPoints points;
    const void* weight = nullptr;
    void* sums = nullptr;
    void* scratch = nullptr;
};

/// values[k][i] = Σ over the functions of coefficient k times the function at point i, for `sets` sets of
/// coefficients, 1 or 4: coefficients[(2 t + part)·sets + k].
struct EvaluateTask {
    FunctionLoop functions;
    ExpansionPoints points;
    int sets = 1;
    const void* coefficients = nullptr;
    void* values[4] = {nullptr, nullptr, nullptr, nullptr};
};

/// Adds to each target's expansion what up to eight sources that are mirror images of each other send to it:
/// source σ by D_σ A D_σ, where D_σ changes the sign of functions that are odd along an odd number of the
/// axes in σ.
///
/// With X_c = Σ_σ (−1)^|c∩σ| M_σ the sum is Σ over classes s of A_os X_{o⊕s} for class o of the target: one
/// product with A serves all eight.
struct TranslateTask {
    bool wide = true;
    int size = 0; ///< numbers of an expansion
    int class_begin[parities + 1] = {};
    int source_count[parities] = {}; ///< functions of each class that are used
    int target_count[parities] = {};
    int axes = 7; ///< of which mirror images differ; A_os is 0 unless o⊕s is a part of it
    /// For each class o, for each class s for which A_os is not 0, for each function of s: the column of the
    /// functions of o, padded to cache lines.
    const void* matrix = nullptr;
    std::int64_t targets = 0;
    const void* const* sources = nullptr; ///< 8 for each target, by σ; null where there is none
    void* const* expansions = nullptr;    ///< one for each target
    const void* zeros = nullptr;          ///< `size` of them
    void* scratch = nullptr;              ///< translate_scratch(size) numbers
};

constexpr int most_translate_targets = 8;
constexpr std::int64_t translate_scratch(std::int64_t size) {
    return std::int64_t{most_translate_targets} * parities * size;
}

/// The other way round, with A of all functions and mirror images along all axes: adds to up to eight targets
/// that are mirror images of each other what one source sends to them, to target σ what D_σ A D_σ makes of
/// it.
///
/// With Y_oc = A_{o,o⊕c} M_{o⊕c} class o of target σ gets Σ_c (−1)^|c∩σ| Y_oc: one product with A serves all
/// eight.
struct SpreadTask {
    TranslateTask translation; ///< A and the classes; nothing else of it
    std::int64_t count = 0;
    const void* const* sources = nullptr; ///< `count` of them
    void* const* targets = nullptr;       ///< 8 for each source, by σ; null where there is none
    void* scratch = nullptr;              ///< translate_scratch(size) numbers
};

/// Adds to the local expansions of some targets, which lie in lanes, what their sources at one offset d send:
/// M is turned until d lies along z, translated along z, where orders do not mix, and turned back.
///
/// With the rotation D = A·B, B about z by the azimuth of d and A about y by its polar angle, and the signs S
/// = (−1)^order, L = Dᵀ T D M = Bᵀ S A (S T) A B M. Offsets with z < 0 are taken as −d, where both sides
/// change the signs of odd degrees.
struct RotateTask {
    bool wide = true;
    bool behind = false; ///< z < 0
    int degree = 0;      ///< of the functions that are used
    int size = 0;        ///< numbers of an expansion
    int class_begin[parities + 1] = {};
    int class_count[parities] = {};
    /// Of each degree l, for each order m: the places of the cosine and the sine function; twice the same for
    /// m = 0.
    const std::int32_t* places = nullptr;
    const void* azimuth = nullptr; ///< of each order m: cos mφ, sin mφ
    /// A of each degree l: of cosines (l + 1)² numbers, of sines l², column by column; null for that of angle
    /// 0.
    const void* polar = nullptr;
    const void* along = nullptr; ///< S T of each order m: (degree − m + 1)² numbers, column by column
    const void* const* sources = nullptr; ///< an expansion for each lane
    void* sums = nullptr;                 ///< of each place of an expansion, the lanes
    void* scratch = nullptr;              ///< rotate_scratch numbers
};

/// Two cache lines.
constexpr int rotate_lanes(bool wide) { return wide ? 16 : 32; }
/// Rows of an order, of functions of the degrees 0 … degree, where orders lie apart by an odd number of rows.
constexpr int rotate_rows(int degree) { return (degree + 1) | 1; }
/// The sources' lanes; two times the functions by orders and degrees; those of one degree, two times.
constexpr std::int64_t rotate_scratch(int size, int degree, bool wide) {
    const std::int64_t rows =
        size + std::int64_t{4} * (degree + 1) * rotate_rows(degree) + std::int64_t{4} * (degree + 1);
    return rows * rotate_lanes(wide);
}

/// Cells in lanes: those of one octant whose parents lie in a block of 4³, lane x + 4(y + 4z) by the parent's
/// place in it.
constexpr int cell_block_side = 4;
constexpr int cell_block_lanes = 64;

/// What the cells of a block get from sources that are mirror images of each other: those that agree with
/// `side` beside the axes in `free`, as many as these have subsets.
struct CellBlockImages {
    const void* matrix = nullptr; ///< as in TranslateTask, with the functions of `count` on either side
    std::int32_t count[parities] = {};
    /// For each class o one after the other, of the columns of its matrix: class c of X_c, part of `free`,
    /// times the numbers of an expansion, plus the place of the source's function.
    const std::int32_t* columns = nullptr;
    std::int32_t column_count[parities] = {};
    std::int32_t side = 0;
    std::int32_t free = 0;
    std::int64_t place[parities] = {}; ///< of each subset, in `sources`: of the first function at lane 0
};

/// Adds to the expansions of the cells of a block what all sources of their octant send, as TranslateTask
/// does.
struct CellBlockTask {
    bool wide = true;
    int size = 0; ///< numbers of an expansion
    int class_begin[parities + 1] = {};
    std::uint64_t lanes = 0; ///< bits of the lanes whose sums are wanted
    /// Of each function `function` numbers, in which 16 lanes of one z follow each other, and those of the
    /// next z come `plane` numbers later.
    const void* sources = nullptr;
    std::int64_t function = 0, plane = 0;
    const CellBlockImages* images = nullptr;
    std::int64_t count = 0;
    void* sums = nullptr;    ///< of each function, 64 lanes
    void* scratch = nullptr; ///< cell_block_scratch(size) numbers
};

/// That a number of a matrix serves; where there are no more than two left, two.
constexpr int cell_block_vectors(int registers) { return registers == 32 ? 4 : 2; }

/// X of as many vectors, of 16 numbers at most.
constexpr std::int64_t cell_block_scratch(std::int64_t size) { return size * parities * 64; }

using FormFunction = void (*)(const FormTask*);
using EvaluateFunction = void (*)(const EvaluateTask*);
using TranslateFunction = void (*)(const TranslateTask*);
using SpreadFunction = void (*)(const SpreadTask*);
using RotateFunction = void (*)(const RotateTask*);
using CellBlockFunction = void (*)(const CellBlockTask*);

extern "C" {
void ff_form_scalar(const FormTask*);
void ff_form_sse42(const FormTask*);
void ff_form_avx2(const FormTask*);
void ff_form_avx512(const FormTask*);
void ff_evaluate_scalar(const EvaluateTask*);
void ff_evaluate_sse42(const EvaluateTask*);
void ff_evaluate_avx2(const EvaluateTask*);
void ff_evaluate_avx512(const EvaluateTask*);
void ff_translate_scalar(const TranslateTask*);
void ff_translate_sse42(const TranslateTask*);
void ff_translate_avx2(const TranslateTask*);
void ff_translate_avx512(const TranslateTask*);
void ff_spread_scalar(const SpreadTask*);
void ff_spread_sse42(const SpreadTask*);
void ff_spread_avx2(const SpreadTask*);
void ff_spread_avx512(const SpreadTask*);
void ff_rotate_scalar(const RotateTask*);
void ff_rotate_sse42(const RotateTask*);
void ff_rotate_avx2(const RotateTask*);
void ff_rotate_avx512(const RotateTask*);
void ff_cell_block_scalar(const CellBlockTask*);
void ff_cell_block_sse42(const CellBlockTask*);
void ff_cell_block_avx2(const CellBlockTask*);
void ff_cell_block_avx512(const CellBlockTask*);
}

} // namespace farfield
