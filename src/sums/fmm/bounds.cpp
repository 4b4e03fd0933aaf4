#include "sums/fmm/bounds.h"

#include "math/log_gamma.h"

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

double falling(int n, int k) {
    double product = 1.0;
    for (int i = 0; i < k; ++i) product *= n - i;
    return product;
}

// Σ_{l≥first} (l + 1)(l + 2)…(l + k) q^l = d^k/dq^k [q^(first+k)/(1 − q)], by Leibniz' rule.
double differentiated_tail(int first, int k, double q) {
    const int power = first + k;
    double sum = 0.0;
    double choose = 1.0;
    for (int i = 0; i <= k; ++i) {
        sum += choose * falling(power, i) * std::pow(q, power - i) * falling(k - i, k - i) /
               std::pow(1.0 - q, k - i + 1);
        choose = choose * (k - i) / (i + 1);
    }
    return sum;
}

// A harmonic matrix with the largest eigenvalue λ has Frobenius' norm √2 λ at most, as its trace is 0.
double in_norm(std::size_t target, double value) { return target == 2 ? std::sqrt(2.0) * value : value; }

double binomial_root(int n, int k) { // √C(2n, 2k)
    return std::exp(0.5 *
                    (log_gamma(2.0 * n + 1.0) - log_gamma(2.0 * k + 1.0) - log_gamma(2.0 * (n - k) + 1.0)));
}

} // namespace

double expansion_tail(int order, double inner, double outer, std::size_t of_inner, std::size_t of_outer) {
    if (!(inner < outer)) return HUGE_VAL;
    const int m = static_cast<int>(of_inner);
    const int n = static_cast<int>(of_outer);
    return differentiated_tail(order + 1 - m, m + n, inner / outer) / std::pow(outer, 1 + m + n);
}

double multipole_error(int order, double inner, double outer, BoundOf what) {
    return in_norm(what.target, expansion_tail(order, inner, outer, what.source, what.target));
}

double local_error(int order, double inner, double outer, BoundOf what) {
    return in_norm(what.target, expansion_tail(order, inner, outer, what.target, what.source));
}

double translation_error(int degree, double a, double b, double distance, BoundOf what) {
    return multipole_error(degree, a, distance - b, what) + local_error(degree, b, distance - a, what);
}

double translation_size(int degree, double a, double b, double distance, BoundOf what) {
    const int m = static_cast<int>(what.source);
    const int n = static_cast<int>(what.target);
    double sum = 0.0;
    for (int l = m; l <= degree; ++l)
        for (int j = n; j <= degree; ++j)
            sum += 2.0 * std::sqrt(2.0 * (l + j) + 1.0) * binomial_root(l + j, l) * falling(l, m) *
                   falling(j, n) * std::pow(a, l - m) * std::pow(b, j - n) / std::pow(distance, l + j + 1);
    return in_norm(what.target, sum);
}

double expansion_size(int order, double inner, double outer, std::size_t of_inner, std::size_t of_outer) {
    const int m = static_cast<int>(of_inner);
    const int n = static_cast<int>(of_outer);
    double sum = 0.0;
    for (int l = m; l <= order; ++l)
        sum += 2.0 * std::sqrt(2.0 * l + 1.0) * falling(l, m) * falling(l + n, n) * std::pow(inner, l - m) /
               std::pow(outer, l + 1 + n);
    return sum;
}

double radius_node(std::size_t node) {
    const double left = 1.0 - static_cast<double>(node) / static_cast<double>(radius_nodes - 1);
    return corner_radius * (1.0 - left * left);
}

RadiusShare radius_share(double radius) {
    const double left = std::sqrt(std::max(0.0, 1.0 - radius / corner_radius));
    const double place = (1.0 - left) * static_cast<double>(radius_nodes - 1);
    const auto node = std::min(static_cast<std::size_t>(place), radius_nodes - 2);
    const double low = radius_node(node);
    return {node, std::clamp((radius - low) / (radius_node(node + 1) - low), 0.0, 1.0)};
}

} // namespace farfield
