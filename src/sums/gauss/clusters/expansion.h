// Polynomials in d variables of total degree < p, as expansions of Gaussians have them:
//   e^(−|a − b|²/2) = e^(−|a|²/2) e^(−|b|²/2) Σ_α a^α b^α / α!
// Loops take the coefficients of an order p one after the other (`places`), each order by itself. Numbers of
// several orders meet in graded order, in which those of a lower order come first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

/// C(p − 1 + d, d), the monomials of total degree < p.
std::int64_t expansion_terms(int dimension, int order);

/// The largest order whose terms are worth their memory.
int most_expansion_order(int dimension);

class ExpansionTables {
public:
    /// For orders up to `order`.
    ExpansionTables(int dimension, int order);

    /// Where the coefficients of an order stand in graded order. A loop over them takes powers of the first
    /// axis from the highest to 0, and for each of them those of the second axis likewise, and so on.
    [[nodiscard]] std::span<const std::int32_t> places(int order) const {
        return places_[static_cast<std::size_t>(order)];
    }
    /// 1/α! in graded order.
    [[nodiscard]] std::span<const double> factors() const { return factors_; }

private:
    std::vector<std::vector<std::int32_t>> places_; ///< by order; none of order 0
    std::vector<double> factors_;
};

} // namespace farfield
