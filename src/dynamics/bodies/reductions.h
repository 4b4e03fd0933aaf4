// Sums in one fixed order: a pairwise tree that depends on the number of terms alone, so a result has the
// same bits on every machine and for any number of threads. Rounding grows as log N instead of N.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace farfield {

/// term(begin) + … + term(end − 1). Blocks of at most 32 terms are added left to right.
template <class Term>
double pairwise_sum(std::int64_t begin, std::int64_t end, const Term& term) {
    constexpr std::int64_t block = 32;
    if (end - begin <= block) {
        double sum = 0.0;
        for (std::int64_t i = begin; i < end; ++i) sum += term(i);
        return sum;
    }
    const std::int64_t middle = begin + (end - begin) / 2;
    return pairwise_sum(begin, middle, term) + pairwise_sum(middle, end, term);
}

/// a₀b₀ + a₁b₁ + …, of as many numbers in both.
inline double dot(std::span<const double> a, std::span<const double> b) {
    return pairwise_sum(0, static_cast<std::int64_t>(a.size()), [&](std::int64_t i) {
        return a[static_cast<std::size_t>(i)] * b[static_cast<std::size_t>(i)];
    });
}

} // namespace farfield
