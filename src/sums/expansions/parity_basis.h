// A basis of expansions whose functions are each even or odd along each axis.
//
// Coefficients are sorted by that class first (bit 0: odd in x, bit 1: in y, bit 2: in z), then by degree, so
// that mirror images share translation operators (translation.h) and a lower order is the first part of each
// class. Loops take whole cache lines from the beginning of a class on, and meet the first functions of the
// next ones there; after the last class comes as much padding as they need.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace farfield {

constexpr int parities = 8;

/// Number `column` of row `row` where rows have `columns` numbers.
inline std::size_t in_rows(int row, int column, int columns) {
    const int number = row * columns + column;
    return static_cast<std::size_t>(number);
}

/// `Function` has a `degree`, −1 in the padding, and `parity()`, whose bit a is set where it is odd along
/// axis a.
template <class Function>
class ParityBasis {
public:
    /// @param functions  with degrees that do not fall
    /// @param line  numbers in a cache line: 16 floats or 8 doubles
    ParityBasis(int order, int line, const std::vector<Function>& functions)
        : order_(order), line_(line), functions_(static_cast<int>(functions.size())) {
        Function none;
        none.degree = -1;
        for (int parity = 0; parity < parities; ++parity) {
            begin_[parity] = static_cast<int>(at_.size());
            for (const auto& function : functions)
                if (function.parity() == parity) at_.push_back(function);
        }
        begin_[parities] = static_cast<int>(at_.size());
        int end = begin_[parities];
        for (int parity = 0; parity < parities; ++parity)
            end = std::max(end, begin_[parity] + in_lines(begin_[parity + 1] - begin_[parity]));
        at_.resize(static_cast<std::size_t>(in_lines(end)), none);
        begin_[parities] = static_cast<int>(at_.size());
    }

    [[nodiscard]] int order() const { return order_; }
    [[nodiscard]] int line() const { return line_; }
    [[nodiscard]] int functions() const { return functions_; }
    /// Numbers of an expansion, with padding.
    [[nodiscard]] int size() const { return begin_[parities]; }
    [[nodiscard]] int class_begin(int parity) const { return begin_[parity]; }
    /// Functions of a class up to a degree, which stand first in it.
    [[nodiscard]] int class_count(int parity, int degree) const {
        int count = 0;
        for (int place = begin_[parity]; place < begin_[parity + 1]; ++place)
            if (at(place).degree >= 0 && at(place).degree <= degree) ++count;
        return count;
    }
    /// The function at a place.
    [[nodiscard]] const Function& at(int place) const { return at_[static_cast<std::size_t>(place)]; }

private:
    [[nodiscard]] int in_lines(int count) const { return (count + line_ - 1) / line_ * line_; }

    int order_, line_, functions_;
    int begin_[parities + 1] = {};
    std::vector<Function> at_;
};

} // namespace farfield
