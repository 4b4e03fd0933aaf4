// The translation operators of the fast multipole method, for one order and one grid of offsets, shared by
// all plans that use them.
#pragma once

#include "sums/expansions/operators.h"
#include "sums/expansions/translation.h"

#include <array>
#include <memory>
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

    friend bool operator==(const FmmOrder&, const FmmOrder&) = default;
};

/// Degree of the translation over an offset, in cells.
int graded_degree(const FmmOrder& order, const std::array<int, 3>& offset);

/// Offsets that are mirror images of each other: those with these components, all ≥ 0, with any signs.
struct OffsetClass {
    std::array<int, 3> offset{};
    int axes = 0; ///< bit a: component a is not 0
};

/// The classes of all offsets between cells that are not neighbours although their parents are, or that lie
/// on the coarsest grid.
std::vector<OffsetClass> offset_classes(const FmmOrder& order);

template <class T>
struct FmmOperators {
    explicit FmmOperators(const FmmOrder& order, int threads);

    FmmOrder order;
    HarmonicBasis basis;
    HarmonicBasis higher;  ///< order + 1: derivatives of multipole expansions
    HarmonicBasis highest; ///< order + 2: their second derivatives
    HarmonicTable<T> table, higher_table, highest_table;
    std::vector<OffsetClass> classes;
    std::vector<Translation<T>> across; ///< of each class, from a cell to another of its level
    Translation<T> up;                  ///< from the children, by octant, to their parent
    Translation<T> down;                ///< from the parent to a child
    std::array<std::vector<SparseTerm>, 3> local_derivatives, multipole_derivatives;
    std::array<std::vector<SparseTerm>, 3> higher_derivatives; ///< of those of multipole expansions
};

/// Made once for an order; the last few are kept.
template <class T>
std::shared_ptr<const FmmOperators<T>> fmm_operators(const FmmOrder& order, int threads);

/// Multiply-adds of all translations to one cell, with padding; with `coarse` > 4, to a cell of that grid
/// that has sources at all offsets.
double multiply_adds_a_cell(const FmmOrder& order, bool wide);

/// Bytes that `fmm_operators` of this order would take.
double predicted_operator_bytes(const FmmOrder& order, bool wide);

extern template struct FmmOperators<float>;
extern template struct FmmOperators<double>;
extern template std::shared_ptr<const FmmOperators<float>> fmm_operators<float>(const FmmOrder&, int);
extern template std::shared_ptr<const FmmOperators<double>> fmm_operators<double>(const FmmOrder&, int);

} // namespace farfield
