// Operators as the loops take them: packed by classes of parity, in the number type of the expansions.
#pragma once

#include "base/aligned.h"
#include "sums/expansions/basis.h"
#include "sums/expansions/loops.h"

#include <cstddef>
#include <cstdint>
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
    template <class Entry>
    Translation(const HarmonicBasis& basis, int axes, int degree, const Entry& entry) : axes_(axes) {
        for (int parity = 0; parity < parities; ++parity) count_[parity] = basis.class_count(parity, degree);
        matrix_.reserve(packed_size(basis));
        for (int o = 0; o < parities; ++o)
            for (int s = 0; s < parities; ++s) {
                if (((o ^ s) & ~axes) != 0) continue;
                for (int j = 0; j < count_[s]; ++j) {
                    const auto& source = basis.at(basis.class_begin(s) + j);
                    for (int i = 0; i < count_[o]; ++i)
                        matrix_.push_back(static_cast<T>(entry(basis.at(basis.class_begin(o) + i), source)));
                    matrix_.resize(matrix_.size() + static_cast<std::size_t>(rows(basis, o) - count_[o]));
                }
            }
    }

    /// The task without its targets.
    [[nodiscard]] TranslateTask task(const HarmonicBasis& basis) const;
    [[nodiscard]] int axes() const { return axes_; }
    /// Multiply-adds for a target.
    [[nodiscard]] double multiply_adds() const { return static_cast<double>(matrix_.size()); }

private:
    /// Functions of class o, with padding.
    [[nodiscard]] int rows(const HarmonicBasis& basis, int o) const {
        return (count_[o] + basis.line() - 1) / basis.line() * basis.line();
    }
    [[nodiscard]] std::size_t packed_size(const HarmonicBasis& basis) const;

    int axes_;
    int count_[parities] = {};
    AlignedVector<T> matrix_;
};

/// The numbers that HarmonicLoop points to, and the order in which the loop meets the functions.
template <class T>
class HarmonicTable {
public:
    explicit HarmonicTable(const HarmonicBasis& basis);

    [[nodiscard]] HarmonicLoop loop() const;
    /// Cosine and sine of each (m, l): (p + 1)(p + 2) numbers.
    [[nodiscard]] std::size_t numbers() const { return places_.size(); }
    /// The place of each of them in an expansion; −1 for sines of m = 0.
    [[nodiscard]] std::span<const std::int32_t> places() const { return places_; }

private:
    int order_;
    std::vector<T> diagonal_, climb_, climb_back_;
    std::vector<std::int32_t> places_;
};

extern template class Translation<float>;
extern template class Translation<double>;
extern template class HarmonicTable<float>;
extern template class HarmonicTable<double>;

} // namespace farfield
