#include "sums/expansions/polynomials.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace farfield {
namespace {

std::vector<Polynomial> polynomials_to(int order) {
    std::vector<Polynomial> out;
    for (int degree = 0; degree <= order; ++degree)
        for (int c = 0; c <= degree; ++c)
            for (int b = 0; b <= degree - c; ++b) out.push_back({degree, {degree - b - c, b, c}});
    return out;
}

/// The n Chebyshev points of [−1, 1], T_k at them, and the matrix that takes values to coefficients.
struct ChebyshevPoints {
    explicit ChebyshevPoints(int count) : n(count) {
        for (int i = 0; i < n; ++i) x.push_back(std::cos(std::numbers::pi * (i + 0.5) / n));
        for (int k = 0; k < n; ++k)
            for (int i = 0; i < n; ++i)
                to_coefficients.push_back((k == 0 ? 1.0 : 2.0) / n *
                                          std::cos(std::numbers::pi * k * (i + 0.5) / n));
    }

    int n;
    std::vector<double> x, to_coefficients; ///< n, and n×n: coefficient, point
};

double chebyshev(int k, double x) { return std::cos(k * std::acos(std::clamp(x, -1.0, 1.0))); }

/// Coefficients of f(|d + z|), z in [−1, 1]³, by T_k of each axis up to n − 1.
std::vector<double> difference_series(const DifferenceTables& tables, const std::array<double, 3>& d,
                                      const std::function<double(double)>& kernel) {
    const int n = tables.points();
    const auto size = static_cast<std::size_t>(n);
    std::vector<double> values(size * size * size);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            for (int k = 0; k < n; ++k) {
                const double x = d[0] + tables.point(i);
                const double y = d[1] + tables.point(j);
                const double z = d[2] + tables.point(k);
                values[in_rows(i * n + j, k, n)] = kernel(x * x + y * y + z * z);
            }
    std::vector<double> out(values.size());
    for (int axis = 0; axis < 3; ++axis) { // the last axis becomes the first, three times
        for (int row = 0; row < n * n; ++row)
            for (int k = 0; k < n; ++k) {
                double sum = 0.0;
                for (int i = 0; i < n; ++i) sum += tables.weight(k, i) * values[in_rows(row, i, n)];
                out[in_rows(k, row, n * n)] = sum;
            }
        values.swap(out);
    }
    return values;
}

void add(double factor, const double* values, std::vector<double>& sums) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += factor * values[i];
}

} // namespace

PolynomialBasis::PolynomialBasis(int order, int line) : ParityBasis(order, line, polynomials_to(order)) {
    places_.resize(in_rows(in_cube(order, order), order, order + 1) + 1, -1);
    for (int place = 0; place < size(); ++place)
        if (at(place).degree >= 0) places_[cube_place(at(place).of)] = place;
}

// Each from the values of T_k at all pairs of points, exactly but for rounding.
DifferenceTables::DifferenceTables(int order) : n_(2 * order + 1) {
    const ChebyshevPoints points(n_);
    points_ = points.x;
    weights_ = points.to_coefficients;
    const auto square = in_rows(n_, 0, n_);
    values_.resize(square * static_cast<std::size_t>(n_));
    std::vector<double> at(square);   // by s and t
    std::vector<double> half(square); // by s and b
    for (int k = 0; k < n_; ++k) {
        for (int i = 0; i < n_; ++i)
            for (int j = 0; j < n_; ++j) at[in_rows(i, j, n_)] = chebyshev(k, 0.5 * (point(i) - point(j)));
        for (int i = 0; i < n_; ++i)
            for (int b = 0; b < n_; ++b) {
                double sum = 0.0;
                for (int j = 0; j < n_; ++j) sum += weight(b, j) * at[in_rows(i, j, n_)];
                half[in_rows(i, b, n_)] = sum;
            }
        for (int a = 0; a < n_; ++a)
            for (int b = 0; b < n_; ++b) {
                double sum = 0.0;
                for (int i = 0; i < n_; ++i) sum += weight(a, i) * half[in_rows(i, b, n_)];
                values_[in_rows(a * n_ + b, k, n_)] = sum;
            }
    }
}

ChildShift::ChildShift(int order) : order_(order) {
    const ChebyshevPoints points(order + 1);
    for (int a = 0; a <= order; ++a)
        for (int b = 0; b <= order; ++b) {
            double sum = 0.0;
            for (int i = 0; i < points.n; ++i)
                sum += points.to_coefficients[in_rows(b, i, points.n)] *
                       chebyshev(a, 0.5 * points.x[static_cast<std::size_t>(i)] - 0.5);
            values_.push_back(b <= a ? sum : 0.0);
        }
}

SmoothKernelExpansion::SmoothKernelExpansion(const DifferenceTables& tables, const std::array<double, 3>& d,
                                             const std::function<double(double)>& kernel)
    : order_(tables.order()) {
    const auto functions = polynomials_to(order_);
    functions_ = static_cast<int>(functions.size());
    const int n = order_ + 1;
    numbers_.assign(in_rows(n * n, 0, n), -1);
    for (int f = 0; f < functions_; ++f) {
        const auto& of = functions[static_cast<std::size_t>(f)].of;
        numbers_[in_rows(of[0] * n + of[1], of[2], n)] = f;
    }
    values_.resize(functions.size() * functions.size());
    set_values(tables, difference_series(tables, d, kernel));
    value_rest_.assign(static_cast<std::size_t>(n), 0.0);
    gradient_rest_.assign(static_cast<std::size_t>(n), 0.0);
    // T_k has the mean square 1/2 for k > 0, about, and its derivative k²; coordinates are in half widths.
    const auto mean_square = [](const Polynomial& f) {
        double product = 1.0;
        for (const int k : f.of) product *= k > 0 ? 0.5 : 1.0;
        return product;
    };
    for (const auto& i : functions)
        for (const auto& j : functions) {
            const double value = (*this)(i, j) * (*this)(i, j) * mean_square(i) * mean_square(j);
            const auto degree = static_cast<std::size_t>(std::max(i.degree, j.degree));
            double squares = 0.0;
            for (const int k : i.of) squares += k * k;
            value_rest_[degree] += value;
            gradient_rest_[degree] += 8.0 * squares * value;
        }
}

// T_ij = Σ_k c_k A_k1… A_k2… A_k3…, axis by axis. An exchange of x and y changes the sign of their
// difference: T_ji = (−1)^(degrees) T_ij, so that half of it is computed.
void SmoothKernelExpansion::set_values(const DifferenceTables& differences,
                                       const std::vector<double>& series) {
    const int most = 2 * order_;
    const int n = most + 1;
    std::vector<double> plane(in_rows(n, 0, n));           // by k2 and k3
    std::vector<double> line(static_cast<std::size_t>(n)); // by k3
    const auto each = [&](int most_a, int most_b, const auto& visit) {
        for (int a = 0; a <= most_a; ++a)
            for (int b = 0; b <= most_b; ++b) visit(a, b, differences.of(a, b));
    };
    each(order_, order_, [&](int a1, int b1, const double* of1) {
        if (a1 < b1) return;
        std::fill(plane.begin(), plane.end(), 0.0);
        for (int k1 = a1 + b1; k1 <= most; k1 += 2) add(of1[k1], &series[in_rows(k1, 0, n * n)], plane);
        each(order_ - a1, order_ - b1, [&](int a2, int b2, const double* of2) {
            if (a1 == b1 && a2 < b2) return;
            std::fill(line.begin(), line.end(), 0.0);
            for (int k2 = a2 + b2; k2 <= most; k2 += 2) add(of2[k2], &plane[in_rows(k2, 0, n)], line);
            each(order_ - a1 - a2, order_ - b1 - b2, [&](int a3, int b3, const double* of3) {
                double sum = 0.0;
                for (int k3 = a3 + b3; k3 <= most; k3 += 2)
                    sum += of3[k3] * line[static_cast<std::size_t>(k3)];
                const int i = number({a1, a2, a3});
                const int j = number({b1, b2, b3});
                const bool odd = ((a1 + a2 + a3 + b1 + b2 + b3) & 1) != 0;
                values_[in_rows(i, j, functions_)] = sum;
                values_[in_rows(j, i, functions_)] = odd ? -sum : sum;
            });
        });
    });
}

int SmoothKernelExpansion::degree_for(double values, double gradients) const {
    double value_sum = 0.0;
    double gradient_sum = 0.0;
    for (int degree = order_; degree >= 0; --degree) {
        value_sum += value_rest_[static_cast<std::size_t>(degree)];
        gradient_sum += gradient_rest_[static_cast<std::size_t>(degree)];
        if (value_sum > values * values || gradient_sum > gradients * gradients)
            // what lies beyond the order is about as much less again as the highest degree is
            return degree == order_ ? order_ + 1 : degree;
    }
    return -1;
}

std::vector<SparseTerm> polynomial_derivative(const PolynomialBasis& basis, int axis) {
    const auto along = static_cast<std::size_t>(axis);
    std::vector<SparseTerm> terms;
    for (int from = 0; from < basis.size(); ++from) {
        const auto& f = basis.at(from);
        if (f.degree < 0) continue;
        // T_k' = 2k Σ T_j over j < k with k − j odd, T_0 by half; twice that, as coordinates are half widths
        const int k = f.of[along];
        for (int j = k - 1; j >= 0; j -= 2) {
            auto of = f.of;
            of[along] = j;
            terms.push_back({basis.place(of), from, (j == 0 ? 2.0 : 4.0) * k});
        }
    }
    return terms;
}

} // namespace farfield
