#include "sums/gauss/clusters/expansion.h"

#include "sums/kernels/exact.h"

#include <array>

namespace farfield {
namespace {

constexpr std::int64_t most_terms = 16384;
constexpr int most_order = 40;

/// n over k, for a small k.
std::int64_t choose(std::int64_t n, std::int64_t k) {
    std::int64_t out = 1;
    for (std::int64_t i = 1; i <= k; ++i) out = out * (n - k + i) / i;
    return n < k ? 0 : out;
}

using Powers = std::array<int, most_dimensions>;

/// With t_k, the sum of powers from axis k on: Σ_k C(t_k + d − 1 − k, d − k). All monomials of lower degree
/// come before, by the first term.
std::int32_t graded_place(const Powers& powers, int dimension) {
    std::int64_t place = 0;
    int rest = 0;
    for (int k = dimension; k-- > 0;) {
        rest += powers[static_cast<std::size_t>(k)];
        place += choose(rest + dimension - 1 - k, dimension - k);
    }
    return static_cast<std::int32_t>(place);
}

/// Calls body(powers) in the order of the loops, from axis k on.
template <class Body>
void visit(Powers& powers, int k, int dimension, int degree, const Body& body) {
    if (k == dimension || k == most_dimensions) return body(powers);
    auto& power = powers[static_cast<std::size_t>(k)];
    for (power = degree; power >= 0; --power) visit(powers, k + 1, dimension, degree - power, body);
    power = 0;
}

double inverse_factorial(const Powers& powers) {
    double out = 1.0;
    for (const int power : powers)
        for (int i = 2; i <= power; ++i) out /= i;
    return out;
}

} // namespace

std::int64_t expansion_terms(int dimension, int order) { return choose(order - 1 + dimension, dimension); }

int most_expansion_order(int dimension) {
    int order = 1;
    while (order < most_order && expansion_terms(dimension, order + 1) <= most_terms) ++order;
    return order;
}

ExpansionTables::ExpansionTables(int dimension, int order)
    : places_(static_cast<std::size_t>(order) + 1),
      factors_(static_cast<std::size_t>(expansion_terms(dimension, order))) {
    for (int p = 1; p <= order; ++p) {
        auto& places = places_[static_cast<std::size_t>(p)];
        Powers powers{};
        visit(powers, 0, dimension, p - 1, [&](const Powers& at) {
            places.push_back(graded_place(at, dimension));
            if (p == order) factors_[static_cast<std::size_t>(places.back())] = inverse_factorial(at);
        });
    }
}

} // namespace farfield
