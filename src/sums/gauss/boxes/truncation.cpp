#include "sums/gauss/boxes/truncation.h"

#include "sums/gauss/boxes/hermite_function.h"

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

constexpr int largest_order = 48;
constexpr double most_box_terms = 32768.0;
constexpr double root_of_e = 1.6487212707001282;

/// Σ_{n≥p} weight(n) rⁿ/√n!; weights grow more slowly than any power of n + 1 beyond the fourth.
template <class Weight>
double tail_of(int p, double r, const Weight& weight) {
    double term = 1.0, sum = 0.0;
    for (int n = 0;; ++n) {
        if (n >= p) sum += weight(n) * term;
        const double ratio = r / std::sqrt(n + 1.0);
        term *= ratio;
        if (n >= p && ratio < 0.4 && weight(n + 1) * term < 1e-17 * sum) return sum;
        if (term == 0.0) return sum;
    }
}

/// Σ_{k≥first} C(n, k), of all k for first ≤ 0.
double upper_binomials(int n, int first) {
    if (n < 0 || first > n) return 0.0;
    double term = 1.0, sum = 0.0; // from k = n down
    for (int k = n; k >= std::max(first, 0); --k) {
        sum += term;
        term *= k / (n - k + 1.0);
    }
    return sum;
}

/// Σ r^N/√N! w_N with the sum w_N of C(N, n), or of m C(N, n)/r, over n + m = N with n ≥ p or m ≥ p.
double translated_tail(int p, double r, bool slope) {
    double power = 1.0, sum = 0.0; // r^N/√N!
    for (int n = 0;; ++n) {
        double ways = 0.0;
        if (n >= 2 * p)
            ways = slope ? 0.5 * n * std::exp2(n) : std::exp2(n);
        else if (n >= p)
            ways = slope ? n * (upper_binomials(n - 1, p) + upper_binomials(n - 1, p - 1))
                         : 2.0 * upper_binomials(n, p);
        const double term = power * ways / (slope ? r : 1.0);
        sum += term;
        power *= r / std::sqrt(n + 1.0);
        if (n > 2 * p && 2.0 * r / std::sqrt(n + 1.0) < 0.4 && term < 1e-17 * sum) return sum;
        if (power == 0.0 || n > 900) return sum;
    }
}

double axis_error(const BoxTruncation& truncation, int p) {
    const double r = truncation.radius;
    return cramer_constant *
           (truncation.translated ? translated_tail(p, r, false) : tail_of(p, r, [](int) { return 1.0; }));
}

double axis_slope_error(const BoxTruncation& truncation, int p) {
    const double r = truncation.radius;
    if (truncation.translated) return cramer_constant * translated_tail(p, r, true);
    const double hermite = tail_of(p, r, [](int n) { return std::sqrt(n + 1.0); });
    const double taylor = tail_of(p, r, [](int n) { return static_cast<double>(n); }) / r;
    return cramer_constant * std::max(hermite, taylor);
}

/// What sums of a box's terms may be larger than its sum: by rounding, as many digits are lost.
double growth(const BoxTruncation& truncation) {
    const double r = truncation.translated ? 2.0 * truncation.radius : truncation.radius;
    return std::pow(tail_of(0, r, [](int) { return 1.0; }), truncation.dimension);
}

} // namespace

double box_error(const BoxTruncation& truncation, int order) {
    return std::expm1(truncation.dimension * std::log1p(axis_error(truncation, order)));
}

double box_gradient_error(const BoxTruncation& truncation, int order) {
    const double others = (truncation.dimension - 1) * std::log1p(axis_error(truncation, order));
    const double along =
        axis_slope_error(truncation, order) * std::exp(others) + std::expm1(others) / root_of_e;
    return root_of_e * std::sqrt(static_cast<double>(truncation.dimension)) * along;
}

int most_box_order(int dimension) {
    int order = 1;
    while (order < largest_order && std::pow(order + 1.0, dimension) <= most_box_terms) ++order;
    return order;
}

int box_order(const BoxTruncation& truncation, double tolerance) {
    constexpr double widest = 6.0; // of r: no order serves beyond
    if (!(truncation.radius < widest) || growth(truncation) * 0x1p-53 > tolerance) return 0;
    if (truncation.radius == 0.0) return truncation.with_gradient ? 2 : 1;
    const int most = most_box_order(truncation.dimension);
    for (int p = 1; p <= most; ++p) {
        if (box_error(truncation, p) > tolerance) continue;
        if (!truncation.with_gradient || box_gradient_error(truncation, p) <= tolerance) return p;
    }
    return 0;
}

} // namespace farfield
