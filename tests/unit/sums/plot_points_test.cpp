// Densities of points in the plane for pictures, against sums in long double with Scott's rule written out.
#include "expect_error.h"

#include "sums/run/plot_points.h"

#include <farfield/error.h>

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

namespace farfield {
namespace {

using Real = long double;
constexpr Real pi = 3.14159265358979323846264338327950288L;

struct Sample {
    std::vector<double> points;
    std::vector<double> weights;
};

// Along a slanted ellipse far from the origin.
Sample some_points(int n) {
    std::mt19937 engine(5);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> weight(0.5, 2.0);
    Sample out;
    for (int i = 0; i < n; ++i) {
        const double u = normal(engine), v = normal(engine);
        out.points.insert(out.points.end(), {100.0 + 2.0 * u, -40.0 + 1.5 * u + 0.7 * v});
        out.weights.push_back(weight(engine));
    }
    return out;
}

struct Covariance {
    Real xx = 0, xy = 0, yy = 0;
};

// f² C with f = n^(−1/6), n = (Σw)²/Σw².
Covariance scott(const Sample& sample) {
    Real all = 0, squares = 0, x = 0, y = 0;
    for (std::size_t i = 0; i < sample.weights.size(); ++i) {
        const Real w = sample.weights[i];
        all += w;
        squares += w * w;
        x += w * sample.points[2 * i];
        y += w * sample.points[2 * i + 1];
    }
    x /= all;
    y /= all;
    const Real f = std::pow(all * all / squares, -1.0L / 6);
    Covariance c;
    for (std::size_t i = 0; i < sample.weights.size(); ++i) {
        const Real share = sample.weights[i] / all / (1 - squares / all / all) * f * f;
        const Real dx = sample.points[2 * i] - x, dy = sample.points[2 * i + 1] - y;
        c.xx += share * dx * dx;
        c.xy += share * dx * dy;
        c.yy += share * dy * dy;
    }
    return c;
}

Real density_at(const Sample& sample, const Covariance& c, Real x, Real y) {
    const Real det = c.xx * c.yy - c.xy * c.xy;
    Real sum = 0, all = 0;
    for (std::size_t i = 0; i < sample.weights.size(); ++i) {
        const Real dx = x - sample.points[2 * i], dy = y - sample.points[2 * i + 1];
        sum +=
            sample.weights[i] * std::exp(-(c.yy * dx * dx - 2 * c.xy * dx * dy + c.xx * dy * dy) / (2 * det));
        all += sample.weights[i];
    }
    return sum / (all * 2 * pi * std::sqrt(det));
}

void expect_density(const PointDensity& density, const Sample& sample, const Covariance& c) {
    const Real width = (static_cast<Real>(density.right) - density.left) / density.columns;
    const Real height = (static_cast<Real>(density.top) - density.bottom) / density.rows;
    Real largest = 0, worst = 0, integral = 0;
    for (std::int64_t row = 0; row < density.rows; ++row)
        for (std::int64_t column = 0; column < density.columns; ++column) {
            const auto value = density.values[static_cast<std::size_t>(row * density.columns + column)];
            const Real exact = density_at(sample, c, density.left + width * (column + 0.5L),
                                          density.bottom + height * (row + 0.5L));
            worst = std::max(worst, std::abs(value - exact));
            largest = std::max(largest, exact);
            integral += value * width * height;
        }
    EXPECT_LT(static_cast<double>(worst / largest), 1e-5);
    EXPECT_NEAR(static_cast<double>(integral), 1.0, 5e-3); // what three widths around the points leave out
    EXPECT_NEAR(density.widths[0], static_cast<double>(std::sqrt(c.xx)), 1e-12);
    EXPECT_NEAR(density.widths[1], static_cast<double>(std::sqrt(c.yy)), 1e-12);
}

TEST(PointDensity, IsThatOfScottsRule) {
    auto sample = some_points(300);
    expect_density(point_density(sample.points, sample.weights, 0.0, 40), sample, scott(sample));
    sample.weights.assign(300, 1.0);
    expect_density(point_density(sample.points, {}, 0.0, 40), sample, scott(sample));
}

TEST(PointDensity, OfAGivenWidth) {
    const auto sample = some_points(50);
    const auto density = point_density(sample.points, sample.weights, 0.4, 60);
    expect_density(density, sample, {.xx = 0.4 * 0.4, .xy = 0, .yy = 0.4 * 0.4});
    EXPECT_EQ(std::max(density.columns, density.rows), 60);
    EXPECT_NEAR((density.right - density.left) / (density.top - density.bottom),
                static_cast<double>(density.columns) / static_cast<double>(density.rows), 0.05);
}

// One axis in other units changes nothing but the scale: cells are not square then.
TEST(PointDensity, OfAxesInOtherUnits) {
    auto sample = some_points(200);
    const auto before = point_density(sample.points, {}, 0.0, 30);
    for (std::size_t i = 1; i < sample.points.size(); i += 2) sample.points[i] *= 1000.0;
    const auto after = point_density(sample.points, {}, 0.0, 30);
    EXPECT_EQ(after.columns, 30);
    EXPECT_EQ(after.rows, 30);
    EXPECT_NEAR(after.widths[1] / before.widths[1], 1000.0, 1e-9);
    EXPECT_NEAR(after.top / before.top, 1000.0, 1e-9);
}

TEST(PointDensity, WhatCannotBeDrawn) {
    const auto refuse = [](std::vector<double> points, std::vector<double> weights, double sigma = 0.0) {
        return test::error_of<InvalidArgument>([&] { (void)point_density(points, weights, sigma, 10); });
    };
    test::expect_contains(refuse({0, 0, 1, 1, 2, 2}, {}), {"on a line", "sigma"});
    test::expect_contains(refuse({3, 4}, {}), {"one place", "sigma"});
    test::expect_contains(refuse({0, 0, 1, 1, 2, 0}, {1, 0, 0}), {"one place"});
    test::expect_contains(refuse({0, 0, 1, 1, 2, 0}, {1, -2, 0}), {"row 1", "-2", "negative"});
    test::expect_contains(refuse({0, 0, 1, 1, 2, 0}, {0, 0, 0}, 1.0), {"all weights are 0"});
    test::expect_contains(refuse({-1e308, 0, 1e308, 1, 2, 0}, {}, 1.0), {"no picture"});
    const std::vector<double> points{0, 0, 1, 1};
    EXPECT_THROW(
        (void)point_density(points, {}, 0.1, 2000, {.progress = {}, .stop_requested = [] { return true; }}),
        Interrupted);
}

} // namespace
} // namespace farfield
