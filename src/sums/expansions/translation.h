// Operators as the loops take them: packed by classes of parity, in the number type of the expansions.
#pragma once

#include "base/aligned.h"
#include "sums/expansions/basis.h"
#include "sums/expansions/loops.h"
#include "sums/expansions/polynomials.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <span>
#include <vector>

namespace farfield {

/// One operator for up to eight mirror images of the sources (TranslateTask).
template <class T>
class Translation {
public:
    /// @param axes  of which the mirror images differ
    /// @param degree  functions of higher degrees are left out, on both sides
    /// @param entry   entry(i, j): A for target function i and source function j
    template <class Function, class Entry>
    Translation(const ParityBasis<Function>& basis, int axes, int degree, const Entry& entry)
        : axes_(axes), line_(basis.line()) {
        for (int parity = 0; parity < parities; ++parity) {
            begin_[parity] = basis.class_begin(parity);
            count_[parity] = basis.class_count(parity, degree);
        }
        begin_[parities] = basis.size();
        matrix_.reserve(packed_size());
        for (int o = 0; o < parities; ++o)
            for (int s = 0; s < parities; ++s) {
                if (((o ^ s) & ~axes) != 0) continue;
                for (int j = 0; j < count_[s]; ++j) {
                    const auto& source = basis.at(basis.class_begin(s) + j);
                    for (int i = 0; i < count_[o]; ++i)
                        matrix_.push_back(static_cast<T>(entry(basis.at(basis.class_begin(o) + i), source)));
                    matrix_.resize(matrix_.size() + static_cast<std::size_t>(rows(o) - count_[o]));
                }
            }
    }

    /// Calls visit(i, j, A) for the entries that are kept, by the places of both functions in the basis.
    template <class Visit>
    void each_entry(const Visit& visit) const {
        const T* column = matrix_.data();
        for (int o = 0; o < parities; ++o)
            for (int s = 0; s < parities; ++s) {
                if (((o ^ s) & ~axes_) != 0) continue;
                for (int j = 0; j < count_[s]; ++j, column += rows(o))
                    for (int i = 0; i < count_[o]; ++i) visit(begin_[o] + i, begin_[s] + j, column[i]);
            }
    }

    /// The task without its targets.
    [[nodiscard]] TranslateTask task() const;
    [[nodiscard]] int axes() const { return axes_; }
    /// That are used, on either side.
    [[nodiscard]] int functions() const { return std::accumulate(std::begin(count_), std::end(count_), 0); }
    /// Multiply-adds for a target.
    [[nodiscard]] double multiply_adds() const { return static_cast<double>(matrix_.size()); }

private:
    /// Functions of class o, with padding.
    [[nodiscard]] int rows(int o) const { return (count_[o] + line_ - 1) / line_ * line_; }
    [[nodiscard]] std::size_t packed_size() const;

    int axes_, line_;
    int begin_[parities + 1] = {};
    int count_[parities] = {};
    AlignedVector<T> matrix_;
};

/// The numbers that FunctionLoop points to, and the order in which the loop meets the functions.
template <class T>
class FunctionTable {
public:
    explicit FunctionTable(const HarmonicBasis& basis);
    explicit FunctionTable(const PolynomialBasis& basis);

    [[nodiscard]] FunctionLoop loop() const;
    /// The functions of each pair.
    [[nodiscard]] std::size_t numbers() const { return places_.size(); }
    /// The place of each of them in an expansion; −1 for sines of m = 0, and beyond the order.
    [[nodiscard]] std::span<const std::int32_t> places() const { return places_; }

private:
    Functions functions_;
    int order_;
    std::vector<T> diagonal_, climb_, climb_back_;
    std::vector<std::int32_t> places_;
};

extern template class Translation<float>;
extern template class Translation<double>;
extern template class FunctionTable<float>;
extern template class FunctionTable<double>;

} // namespace farfield
