// Sums in one fixed order: a pairwise tree that depends on the number of terms alone, so a result has the
// same bits on every machine and for any number of threads. Rounding grows as log N instead of N.
#pragma once

#include "backend/threads/parallel.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

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

namespace detail {

constexpr std::int64_t terms_a_task = std::int64_t{1} << 14;

/// The parts of [begin, end) that tasks add up.
inline void divide_terms(std::int64_t begin, std::int64_t end,
                         std::vector<std::pair<std::int64_t, std::int64_t>>& parts) {
    if (end - begin <= terms_a_task) {
        parts.emplace_back(begin, end);
        return;
    }
    const std::int64_t middle = begin + (end - begin) / 2;
    divide_terms(begin, middle, parts);
    divide_terms(middle, end, parts);
}

/// The sum of such parts, of which `next` is the first.
inline double joined_sums(std::int64_t begin, std::int64_t end, const double*& next) {
    if (end - begin <= terms_a_task) return *next++;
    const std::int64_t middle = begin + (end - begin) / 2;
    const double first = joined_sums(begin, middle, next);
    return first + joined_sums(middle, end, next);
}

} // namespace detail

/// The same, by threads.
template <class Term>
double pairwise_sum(int threads, std::int64_t begin, std::int64_t end, const Term& term) {
    std::vector<std::pair<std::int64_t, std::int64_t>> parts;
    detail::divide_terms(begin, end, parts);
    std::vector<double> sums(parts.size());
    parallel_for(threads, std::ssize(parts), [&](std::int64_t part) {
        const auto [first, last] = parts[static_cast<std::size_t>(part)];
        sums[static_cast<std::size_t>(part)] = pairwise_sum(first, last, term);
    });
    const double* next = sums.data();
    return detail::joined_sums(begin, end, next);
}

/// a₀b₀ + a₁b₁ + …, of as many numbers in both.
inline double dot(std::span<const double> a, std::span<const double> b) {
    return pairwise_sum(0, static_cast<std::int64_t>(a.size()), [&](std::int64_t i) {
        return a[static_cast<std::size_t>(i)] * b[static_cast<std::size_t>(i)];
    });
}

} // namespace farfield
