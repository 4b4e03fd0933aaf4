#include "sums/gauss/clusters/cluster_samples.h"

#include "sums/kernels/exact.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace farfield {
namespace {

constexpr std::size_t sampled_targets = 32;
constexpr double least_scale = 1e-9; ///< of a sum, where no sample sees another
constexpr double square_root_of_e = 1.6487212707001282;

/// e^t − Σ_{n<p} tⁿ/n!
double remainder(int p, double t) {
    double term = 1.0;
    for (int n = 1; n <= p; ++n) term *= t / n;
    double sum = term;
    for (int n = p + 1; n < p + 300 && (n < std::abs(t) || std::abs(term) > 1e-3 * std::abs(sum)); ++n)
        sum += term *= t / n;
    return sum;
}

/// The target of a block that lies farthest from its centre: errors grow outwards.
std::int32_t farthest_of(std::span<const double> targets, const PointBlocks& blocks, std::size_t block) {
    const auto d = blocks.centre.size() / blocks.count();
    std::int32_t farthest = -1;
    double most = -1.0;
    for (auto place = blocks.range[block].begin; place < blocks.range[block].end; ++place) {
        const auto row = blocks.order[static_cast<std::size_t>(place)];
        double r2 = 0.0;
        for (std::size_t k = 0; k < d; ++k) {
            const double u = targets[d * static_cast<std::size_t>(row) + k] - blocks.centre[d * block + k];
            r2 += u * u;
        }
        if (r2 <= most) continue;
        most = r2;
        farthest = row;
    }
    return farthest;
}

/// Sums up vectors, and squares of their lengths.
struct Sum {
    std::array<double, most_dimensions> sum{};
    double squares = 0.0;

    void add(const double* v, std::size_t n) {
        double square = 0.0;
        for (std::size_t k = 0; k < n; ++k) {
            sum[k] += v[k];
            square += v[k] * v[k];
        }
        squares += square;
    }
    [[nodiscard]] double length() const {
        double square = 0.0;
        for (const double x : sum) square += x * x;
        return std::sqrt(square);
    }
};

} // namespace

void ClusterSamples::Size::widen(const Size& by) { // what is no number is larger than any
    if (!(by.sum <= sum)) sum = by.sum;
    if (!(by.root <= root)) root = by.root;
}

ClusterSamples::ClusterSamples(std::span<const double> sources, std::span<const double> targets,
                               int dimension, const PointBlocks& blocks, SelfTargets self, std::size_t count)
    : stride_(static_cast<std::size_t>(dimension)), self_(self != SelfTargets::none) {
    const auto n = sources.size() / stride_;
    if (self == SelfTargets::with_own) own_ = 1.0 / static_cast<double>(n);
    const auto taken = std::min(n, count);
    for (std::size_t j = 0; j < taken; ++j) {
        const auto row = j * n / taken;
        rows_.push_back(static_cast<std::int32_t>(row));
        const auto at = sources.begin() + static_cast<std::ptrdiff_t>(stride_ * row);
        sources_.insert(sources_.end(), at, at + static_cast<std::ptrdiff_t>(stride_));
    }
    const auto seen = std::min(blocks.count(), sampled_targets);
    for (std::size_t j = 0; j < seen; ++j) {
        const auto block = j * blocks.count() / seen;
        const auto row = farthest_of(targets, blocks, block);
        const auto at =
            targets.begin() + static_cast<std::ptrdiff_t>(stride_ * static_cast<std::size_t>(row));
        targets_.push_back({block, {at, at + static_cast<std::ptrdiff_t>(stride_)}});
        const auto sizes = values_at(targets_.back());
        value_.widen(sizes.value);
        gradient_.widen(sizes.gradient);
    }
}

ClusterSamples::Sizes ClusterSamples::values_at(const Target& target) const {
    Sum values, gradients;
    const auto count = static_cast<double>(rows_.size());
    for (std::size_t j = 0; j < rows_.size(); ++j) {
        std::array<double, most_dimensions> d{};
        double r2 = 0.0;
        for (std::size_t k = 0; k < stride_; ++k) {
            d[k] = sources_[stride_ * j + k] - target.x[k];
            r2 += d[k] * d[k];
        }
        if (self_ && r2 == 0.0) continue; // counts once, whatever the samples
        const double value = std::exp(-0.5 * r2);
        for (double& x : d) x *= value * square_root_of_e;
        values.add(&value, 1);
        gradients.add(d.data(), stride_);
    }
    return {{values.length() / count + own_, std::sqrt(values.squares / count + own_)},
            {gradients.length() / count, std::sqrt(gradients.squares / count)}};
}

ClusterSamples::Sizes ClusterSamples::errors_at(const Target& target, const ClusterPlan& plan) const {
    Sum values, gradients;
    const auto& clusters = plan.clusters();
    for (std::size_t j = 0; j < rows_.size(); ++j) {
        const auto k = clusters.of(rows_[j]);
        const int order = plan.act(target.block, k);
        if (order == ClusterPlan::by_pairs) continue;
        const double* centre = clusters.centre.data() + stride_ * k;
        std::array<double, most_dimensions> a{}, b{}, gradient{};
        double squares = 0.0, t = 0.0;
        for (std::size_t axis = 0; axis < stride_; ++axis) {
            a[axis] = sources_[stride_ * j + axis] - centre[axis];
            b[axis] = target.x[axis] - centre[axis];
            squares += a[axis] * a[axis] + b[axis] * b[axis];
            t += a[axis] * b[axis];
        }
        const double weight = std::exp(-0.5 * squares);
        // left out, it may be so far away that e^t is beyond a double
        const double value =
            order == ClusterPlan::not_at_all ? std::exp(t - 0.5 * squares) : weight * remainder(order, t);
        const double lower = order == ClusterPlan::not_at_all ? value : weight * remainder(order - 1, t);
        for (std::size_t axis = 0; axis < stride_; ++axis)
            gradient[axis] = square_root_of_e * (a[axis] * lower - b[axis] * value);
        values.add(&value, 1);
        gradients.add(gradient.data(), stride_);
    }
    const auto count = static_cast<double>(rows_.size());
    return {{values.length() / count, std::sqrt(values.squares / count)},
            {gradients.length() / count, std::sqrt(gradients.squares / count)}};
}

double ClusterSamples::scale(bool with_gradient) const {
    const double of_values = std::clamp(value_.sum, least_scale, 1.0);
    return with_gradient && gradient_.sum > 0.0 ? std::min(of_values, gradient_.sum) : of_values;
}

double ClusterSamples::error(const ClusterPlan& plan, bool relative_to_sum, bool with_gradient) const {
    Sizes largest;
    for (const auto& target : targets_) {
        const auto sizes = errors_at(target, plan);
        largest.value.widen(sizes.value);
        largest.gradient.widen(sizes.gradient);
    }
    const auto relative = [&](const Size& error, const Size& value) {
        if (relative_to_sum) return error.sum;
        return std::max(value.sum > 0.0 ? error.sum / value.sum : 0.0,
                        value.root > 0.0 ? error.root / value.root : 0.0);
    };
    const double of_values = relative(largest.value, value_);
    return with_gradient ? std::max(of_values, relative(largest.gradient, gradient_)) : of_values;
}

} // namespace farfield
