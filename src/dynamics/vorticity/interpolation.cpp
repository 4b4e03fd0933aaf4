#include "dynamics/vorticity/interpolation.h"

#include "dynamics/bodies/reductions.h"

#include <cmath>

namespace farfield {
namespace {

constexpr int most_iterations = 300;

// One method by name: which one is fastest depends on the number of threads, and bits on the method.
SumOptions options_of(const GaussSumSettings& sums, double variance) {
    return {.kernel = Kernel::gauss,
            .method = Method::fgt,
            .sigma = std::sqrt(variance),
            .tolerance = sums.tolerance,
            .outputs = Output::potential,
            .precision = Precision::float64,
            .threads = sums.threads,
            .isa = sums.isa,
            .device = {.kind = DeviceKind::cpu}};
}

ConstArrayView plane_view(std::span<const double> points) { return matrix_view(points, 2); }

// y += factor·x
void add(double factor, std::span<const double> x, std::vector<double>& y) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += factor * x[i];
}

std::vector<double> difference(std::span<const double> a, std::vector<double> b) {
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = a[i] - b[i];
    return b;
}

} // namespace

std::vector<double> sum_at(const Gaussians& gaussians, std::span<const double> targets,
                           const GaussSumSettings& sums) {
    std::vector<double> out(targets.size() / 2);
    SumPlan plan(plane_view(gaussians.points), plane_view(targets), options_of(sums, gaussians.variance));
    plan.execute(matrix_view(gaussians.strengths, 1), {.potential = matrix_view(std::span<double>(out), 1)},
                 {.progress = {}, .stop_requested = sums.stop_requested});
    return out;
}

GaussMatrix::GaussMatrix(std::span<const double> sites, double variance, const GaussSumSettings& sums)
    : plan_(plane_view(sites), options_of(sums, variance)), stop_requested_(sums.stop_requested) {}

std::vector<double> GaussMatrix::times(std::span<const double> x) {
    std::vector<double> out(x.size());
    plan_.execute(matrix_view(x, 1), {.potential = matrix_view(std::span<double>(out), 1)},
                  {.progress = {}, .stop_requested = stop_requested_});
    return out;
}

double GaussMatrix::residual(std::span<const double> values, std::span<const double> x) {
    const auto rest = difference(values, times(x));
    const double all = dot(values, values);
    return all > 0.0 ? std::sqrt(dot(rest, rest) / all) : 0.0;
}

int GaussMatrix::solve(std::span<const double> values, std::vector<double>& x, double tolerance,
                       const std::function<void(std::vector<double>&)>& project) {
    constexpr double nothing = 1e-4; // of the goal, squared: no step lowers the residual by more
    const double goal = tolerance * tolerance * dot(values, values);
    auto rest = difference(values, times(x));
    auto projected = rest;
    project(projected);
    auto direction = projected;
    double slope = dot(rest, projected);
    int steps = 0;
    for (; dot(rest, rest) > goal && slope > nothing * goal && steps < most_iterations; ++steps) {
        const auto product = times(direction);
        const double curvature = dot(direction, product);
        if (!(curvature > 0.0)) break; // rounding is all that is left
        const double length = slope / curvature;
        add(length, direction, x);
        add(-length, product, rest);
        projected = rest;
        project(projected);
        const double before = slope;
        slope = dot(rest, projected);
        for (std::size_t i = 0; i < direction.size(); ++i)
            direction[i] = projected[i] + slope / before * direction[i];
    }
    return steps;
}

} // namespace farfield
