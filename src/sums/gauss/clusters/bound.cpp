#include "sums/gauss/clusters/bound.h"

#include "math/log_gamma.h"

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

constexpr double least_radius = 1.0 / 1024.0;
constexpr double radius_step = 1.03;
constexpr std::size_t radius_classes = 320; ///< the last one is of all larger radii
constexpr double largest_radius = 12.0;     ///< of an expansion

/// P(p, x), the Poisson tail, and 1 for p ≤ 0.
double poisson_tail(int p, double x) {
    if (p <= 0) return 1.0;
    if (x <= 0.0) return 0.0;
    double term = std::exp(p * std::log(x) - x - log_gamma(p + 1.0));
    double sum = term;
    for (int n = p + 1; n < x || term > 1e-17 * sum; ++n) sum += term *= x / n;
    return std::min(1.0, sum);
}

double gaussian_of(double gap) { return gap > 0.0 ? std::exp(-0.5 * gap * gap) : 1.0; }

/// From tails of orders p and p − 1. All that a cluster gives is at most the largest gradient beyond the gap.
double gradient_error(int order, double radius, double distance, double gap, double tail, double lower_tail) {
    constexpr double root_e = 1.6487212707001282;
    if (order == 0) return gap > 1.0 ? root_e * gap * gaussian_of(gap) : 1.0;
    return root_e * gaussian_of(gap) * (distance * tail + radius * lower_tail);
}

} // namespace

double cluster_error(int order, double radius, double distance) {
    return gaussian_of(distance - radius) * poisson_tail(order, radius * distance);
}

double cluster_gradient_error(int order, double radius, double distance) {
    const double x = radius * distance;
    return gradient_error(order, radius, distance, distance - radius, poisson_tail(order, x),
                          poisson_tail(order - 1, x));
}

ClusterOrders::ClusterOrders(double tolerance, bool with_gradient, int most_order)
    : tolerance_(tolerance), with_gradient_(with_gradient), most_order_(most_order), rows_(radius_classes),
      made_(radius_classes, false) {}

// Tails of all orders from the last one down, by their sums.
int ClusterOrders::least_order(double radius, double low, double high) const {
    const double gap = low - radius;
    const double x = radius * high;
    const auto error = [&](int order, double tail, double lower_tail) {
        const double value = order == 0 ? gaussian_of(gap) : gaussian_of(gap) * tail;
        return with_gradient_ ? std::max(value, gradient_error(order, radius, high, gap, tail, lower_tail))
                              : value;
    };
    if (error(0, 1.0, 1.0) <= tolerance_) return 0;
    if (x > 600.0) return too_large(); // beyond the range of e^(−x)
    double tail = poisson_tail(most_order_ + 1, x);
    double term = std::exp(most_order_ * std::log(x) - x - log_gamma(most_order_ + 1.0)); // of most_order_
    int order = most_order_ + 1;
    for (; order > 1; --order) { // is order − 1 enough?
        const double lower = tail + term;
        term *= (order - 1) / x;
        if (error(order - 1, lower, lower + term) > tolerance_) break;
        tail = lower;
    }
    return order;
}

ClusterOrders::Row ClusterOrders::make_row(double radius) const {
    Row row;
    if (radius > largest_radius) return {.end = HUGE_VAL, .orders = {too_large()}};
    for (std::size_t k = 0;; ++k) {
        const double low = distance_bin * static_cast<double>(k);
        const int order = least_order(radius, low, low + distance_bin);
        if (order == 0 && low > radius) break;
        row.orders.push_back(static_cast<std::uint8_t>(order));
    }
    row.end = distance_bin * static_cast<double>(row.orders.size());
    row.peak =
        static_cast<std::size_t>(std::max_element(row.orders.begin(), row.orders.end()) - row.orders.begin());
    for (std::size_t k = 1; k < row.peak; ++k) row.orders[k] = std::max(row.orders[k], row.orders[k - 1]);
    for (std::size_t k = row.orders.size(); k-- > row.peak + 1;)
        if (k + 1 < row.orders.size()) row.orders[k] = std::max(row.orders[k], row.orders[k + 1]);
    return row;
}

const ClusterOrders::Row& ClusterOrders::row(double radius) {
    const double steps = std::log(std::max(radius, least_radius) / least_radius) / std::log(radius_step);
    const auto k = static_cast<std::size_t>(std::ceil(std::min(steps, radius_classes - 1.0)));
    auto& row = rows_[k];
    if (!made_[k]) row = make_row(least_radius * std::pow(radius_step, static_cast<double>(k)));
    made_[k] = true;
    return row;
}

} // namespace farfield
