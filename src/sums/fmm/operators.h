// What the passes need to know of a kind of expansions: its functions and its translations, for one order and
// one grid of offsets. Harmonics are made here; `softened.h` makes polynomials.
#pragma once

#include "sums/expansions/operators.h"
#include "sums/expansions/polynomials.h"
#include "sums/expansions/rotated_offsets.h"
#include "sums/expansions/translation.h"

#include <farfield/sum_options.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace farfield {

/// What the operators depend on.
struct FmmOrder {
    int order = 8;      ///< p: expansions have (p + 1)² coefficients
    int separation = 1; ///< cells up to this distance are neighbours
    int coarse = 1;     ///< cells an axis of the tree's level 0
    /// α: an offset of |d| cells is served up to degree ⌈p ln(α/(s − α))/ln(α/(|d| − α))⌉, s = separation +
    /// 1, at most p: the degree at which a source at distance α from its centre has an error as at the
    /// nearest offset. 0: all up to p.
    double grading = 0.6;
    M2L m2l = M2L::mirrored; ///< not automatic
    /// On a GPU, in float: translations may be rounded to TF32, for tensor cores (tensor_operators.h).
    bool rounded = false;

    friend bool operator==(const FmmOrder&, const FmmOrder&) = default;
};

/// Degree of the translation over an offset, in cells.
int graded_degree(const FmmOrder& order, const std::array<int, 3>& offset);

/// Offsets that are mirror images of each other: those with these components, all ≥ 0, with any signs.
struct OffsetClass {
    std::array<int, 3> offset{};
    int axes = 0; ///< bit a: component a is not 0
};

/// The offset from a target to the source that sends by a mirror image of a class: d points from source to
/// target.
std::array<int, 3> source_offset(const OffsetClass& offsets, int mirror);

/// The classes of all offsets between cells that are not neighbours although their parents are, or that lie
/// on the coarsest grid.
std::vector<OffsetClass> offset_classes(const FmmOrder& order);

/// Expansions of so many functions are sent to cells in lanes (cell_blocks.h); sources of more would not fit
/// into caches.
constexpr int most_functions_in_blocks(bool wide) { return wide ? 256 : 400; }

template <class T>
constexpr int numbers_a_line = 64 / static_cast<int>(sizeof(T)); ///< of cache

template <class T>
struct FmmOperators {
    FmmOperators(const HarmonicBasis& basis, std::vector<OffsetClass> classes);
    FmmOperators(const PolynomialBasis& basis, std::vector<OffsetClass> classes);

    int size;      ///< numbers of an expansion
    int functions; ///< of the basis
    FunctionTable<T> table;
    std::vector<OffsetClass> classes;
    /// From a cell to another of its level, of each class: by level, the last for all that are deeper.
    std::vector<std::vector<Translation<T>>> across;
    bool one_by_one = false; ///< a product for each mirror image
    /// In place of `across`: offsets one by one, by rotation.
    std::optional<RotatedOffsets<T>> rotated;
    Translation<T> up;                                  ///< from the children, by octant, to their parent
    Translation<T> down;                                ///< from the parent to a child
    std::array<std::vector<SparseTerm>, 3> derivatives; ///< of local expansions, in their own basis

    /// For multipole expansions at points beyond their cell, M2P: derivatives have an order more each time.
    struct Outside {
        Outside(const HarmonicBasis& lower, const HarmonicBasis& higher);

        FunctionTable<T> table;
        int size;
        std::vector<std::int32_t> places; ///< in the higher basis, of each number in the lower; −1: padding
        std::array<std::vector<SparseTerm>, 3> derivatives;
    };
    std::vector<Outside> outside; ///< of first and second derivatives; empty for polynomials

    /// Below level 0 cells are served in lanes, by blocks (cell_blocks.h).
    [[nodiscard]] bool in_blocks() const {
        return !rotated && functions <= most_functions_in_blocks(sizeof(T) == sizeof(double));
    }
    /// The Laplacian of functions is 0, and they may act on points beyond their cell.
    [[nodiscard]] bool are_harmonic() const { return !outside.empty(); }
    [[nodiscard]] const std::vector<Translation<T>>& across_level(int level) const {
        return across[std::min(static_cast<std::size_t>(level), across.size() - 1)];
    }
};

/// Of 1/r in harmonics. Made once for an order; the last few are kept.
template <class T>
std::shared_ptr<const FmmOperators<T>> fmm_operators(const FmmOrder& order, int threads);

/// Multiply-adds of all translations to one cell, or what takes as long, with padding; with `coarse` > 4, to
/// a cell of that grid that has sources at all offsets.
double multiply_adds_a_cell(const FmmOrder& order, bool wide);

/// As FmmOperators::in_blocks, of harmonics.
bool in_blocks(const FmmOrder& order, bool wide);

/// Multiply-adds of all translations to one cell in lanes; sums over mirror images count for as many as take
/// their time.
double block_work_a_cell(const FmmOrder& order);
/// The same of so many offset classes, whose matrices have so many numbers and functions on a side in all.
double block_work(double numbers, double functions);

/// Bytes that `fmm_operators` of this order would take.
double predicted_operator_bytes(const FmmOrder& order, bool wide);

extern template struct FmmOperators<float>;
extern template struct FmmOperators<double>;
extern template std::shared_ptr<const FmmOperators<float>> fmm_operators<float>(const FmmOrder&, int);
extern template std::shared_ptr<const FmmOperators<double>> fmm_operators<double>(const FmmOrder&, int);

} // namespace farfield
