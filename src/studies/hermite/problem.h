// What every loop and kernel of `farfield reproduce hermite` evaluates: the Hermite series of 17 clusters of
// Gaussians in the unit square, each at every target.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace farfield::hermite {

/// p: a cluster has p² coefficients.
inline constexpr std::array terms_measured{5, 9, 12};
/// The paper does not tell its number. Its Tables 4 and 5 count 29.9k, 140k and 310k operations a particle
/// for p = 5, 9 and 12. Seventeen clusters with p² (8p + 30) operations each are within 0.5 % of all three:
/// 8(p − 1) for two polynomials by Figure 8, with the integer operations that the paper counts, and 38 more.
inline constexpr int clusters_evaluated = 17;

/// Numbers are those of floats, so that an error is one of the arithmetic.
struct Problem {
    int terms = 0;
    float inverse_width = 0;       ///< 1/√2σ
    std::vector<float> x, y;       ///< targets
    std::vector<float> centres;    ///< clusters × 2
    std::vector<float> moments;    ///< M_α of series.h: clusters × [a][b]
    std::vector<int> factorials{}; ///< 0! … (p − 1)!

    [[nodiscard]] std::int64_t targets() const { return static_cast<std::int64_t>(x.size()); }
    [[nodiscard]] int clusters() const { return static_cast<int>(centres.size() / 2); }
};

/// Sources of a cluster and their charges of both signs, within σ/√2 of its centre along each axis.
struct Sources {
    std::vector<double> x, y, charges;
};
Sources sources_of(int cluster, const Problem& problem);

/// Targets and centres evenly spread over the unit square, √2σ = 0.2. @throws InternalError for terms that
/// have no kernels.
Problem make_problem(int terms, std::int64_t targets, int threads);

/// C_kl of powers.h, lengths as they are: clusters × powers_of(p).
std::vector<float> powers_in(const Problem& problem);

/// G at a target in long double, by the recurrence of normalised Hermite polynomials.
long double exact_potential(const Problem& problem, std::int64_t target);

/// G at targets spread over all, and their greatest |G|.
struct Truth {
    std::vector<std::int64_t> targets;
    std::vector<long double> potentials;
    long double greatest = 0;
};
Truth truth_of(const Problem& problem, std::size_t about, int threads);
/// The largest error at those targets over the greatest |G|; infinite if one is not a number.
double error_of(const Truth& truth, std::span<const float> potentials);

} // namespace farfield::hermite
