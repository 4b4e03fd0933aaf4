// Sums whose error does not grow with the number of terms.
#pragma once

#include <cmath>

namespace farfield {

/// Neumaier's sum (1974, ZAMM 54, 39), of terms as they come.
class CompensatedSum {
public:
    void add(double term) {
        const double sum = sum_ + term;
        lost_ += std::abs(sum_) >= std::abs(term) ? (sum_ - sum) + term : (term - sum) + sum_;
        sum_ = sum;
    }
    [[nodiscard]] double value() const { return sum_ + lost_; }

private:
    double sum_ = 0.0, lost_ = 0.0;
};

} // namespace farfield
