// How far an expansion about a cluster's centre must go. Lengths in units of σ.
//
// A source at a, a target at b, both from the centre, |a| ≤ r and |b| = s. The expansion is that of e^(a·b),
// and |a·b| ≤ |a| s; so what total degrees ≥ p give is at most
//   e^(−(|a|² + s²)/2) Σ_{n≥p} (|a| s)ⁿ/n! = e^(−(|a| − s)²/2) P(p, |a| s) ≤ e^(−max(0, s − r)²/2) P(p, r s)
// of the source's strength, with P(p, x) = e^(−x) Σ_{n≥p} xⁿ/n!. Order 0, which leaves the cluster out, is
// included. The gradient of the expansion is b times that of order p, less a times that of order p − 1: its
// error, times σ, is at most e^(−max(0, s − r)²/2) (s P(p, r s) + r P(p − 1, r s)).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace farfield {

/// The bound for a source of strength 1; of gradients in units of 1/(σ√e), the largest gradient that it has.
double cluster_error(int order, double radius, double distance);
double cluster_gradient_error(int order, double radius, double distance);

/// Of the distances that orders are kept for.
inline constexpr double distance_bin = 1.0 / 16.0;

/// The least orders whose error is at most `tolerance`, by a cluster's radius and distances of targets.
class ClusterOrders {
public:
    ClusterOrders(double tolerance, bool with_gradient, int most_order);

    /// Of clusters of about one radius.
    struct Row {
        double end = 0.0; ///< the distance from which on the cluster counts for nothing
        std::vector<std::uint8_t>
            orders{}; ///< for each bin of distances; they rise up to `peak` and then fall
        std::size_t peak = 0;

        /// For targets at distances from `low` to `high`: 0 if they need not the cluster, and more than
        /// `most_order` where no expansion serves.
        [[nodiscard]] int order(double low, double high) const {
            if (low >= end || orders.empty()) return 0;
            const auto most_bin = static_cast<double>(orders.size() - 1);
            const auto first = static_cast<std::size_t>(std::clamp(low / distance_bin, 0.0, most_bin));
            const auto last = static_cast<std::size_t>(std::min(high / distance_bin, most_bin));
            if (first <= peak && peak <= last) return orders[peak];
            return orders[last < peak ? last : first];
        }
        [[nodiscard]] int most() const { return orders.empty() ? 0 : orders[peak]; }
    };
    /// Rows are made when they are asked for; the reference holds as long as this object.
    const Row& row(double radius);

private:
    [[nodiscard]] int least_order(double radius, double low, double high) const;
    [[nodiscard]] Row make_row(double radius) const;
    [[nodiscard]] std::uint8_t too_large() const { return static_cast<std::uint8_t>(most_order_ + 1); }

    double tolerance_;
    bool with_gradient_;
    int most_order_;
    std::vector<Row> rows_; ///< by classes of radii
    std::vector<bool> made_;
};

} // namespace farfield
