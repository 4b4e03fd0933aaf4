#include "sums/expansions/laurent.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace farfield {
namespace {

constexpr int line = 8; // doubles of a cache line

/// C(n, k) for n up to the last row.
std::vector<std::vector<long double>> binomials(int last) {
    std::vector<std::vector<long double>> rows{{1.0L}};
    for (int n = 1; n <= last; ++n) {
        std::vector<long double> row(static_cast<std::size_t>(n) + 1, 1.0L);
        for (std::size_t k = 1; k < static_cast<std::size_t>(n); ++k)
            row[k] = rows.back()[k - 1] + rows.back()[k];
        rows.push_back(std::move(row));
    }
    return rows;
}

} // namespace

int laurent_size(int order) { return (order + line) / line * line; }

int graded_laurent_order(const LaurentOrder& order, int dx, int dy) {
    const double a = order.grading;
    const double nearest = order.separation + 1.0;
    const double d = std::hypot(dx, dy);
    if (a <= 0.0 || d <= nearest) return order.order;
    const double graded = order.order * std::log(a / (nearest - a)) / std::log(a / (d - a));
    return std::min(order.order, static_cast<int>(std::ceil(graded - 1e-9)));
}

LaurentOperators::LaurentOperators(const LaurentOrder& order)
    : order_(order), size_(laurent_size(order.order)),
      reach_(std::max(2 * order.separation + 1, order.coarse - 1)) {
    make_matrices();
    make_across();
    make_children();
}

double* LaurentOperators::take() {
    powers_.emplace_back(static_cast<std::size_t>(size_), 0.0);
    return powers_.back().data();
}

void LaurentOperators::set_powers(Complex factor, Complex base, const double* (&parts)[2]) {
    double* re = take();
    double* im = take();
    Complex power = factor;
    for (int k = 0; k <= order_.order; ++k, power *= base) {
        re[k] = static_cast<double>(power.real());
        im[k] = static_cast<double>(power.imag());
    }
    parts[0] = re;
    parts[1] = im;
}

void LaurentOperators::make_matrices() {
    const auto size = static_cast<std::size_t>(size_);
    const auto numbers = size * size;
    across_matrix_.assign(numbers, 0.0);
    up_matrix_.assign(numbers, 0.0);
    down_matrix_.assign(numbers, 0.0);
    across_row_.assign(static_cast<std::size_t>(size_), 0.0);
    down_row_.assign(static_cast<std::size_t>(size_), 0.0);
    const auto choose = binomials(2 * order_.order);
    const auto binomial = [&](int n, int k) {
        return static_cast<double>(choose[static_cast<std::size_t>(n)][static_cast<std::size_t>(k)]);
    };
    for (int column = 0; column <= order_.order; ++column) {
        const auto first = static_cast<std::size_t>(column) * size;
        for (int row = 0; row <= order_.order; ++row) {
            const auto at = first + static_cast<std::size_t>(row);
            across_matrix_[at] = binomial(row + column, column);
            if (row >= column) up_matrix_[at] = binomial(row, column);
            if (row <= column) down_matrix_[at] = binomial(column, row);
        }
        if (column > 0) across_row_[static_cast<std::size_t>(column)] = -1.0 / column;
        down_row_[static_cast<std::size_t>(column)] = 1.0 / (column + 1);
    }
}

void LaurentOperators::make_across() {
    for (int dy = -reach_; dy <= reach_; ++dy)
        for (int dx = -reach_; dx <= reach_; ++dx) {
            auto& shift = across_.emplace_back();
            if (std::max(std::abs(dx), std::abs(dy)) <= order_.separation) continue;
            const Complex inverse = Complex(1.0L) / Complex(dx, dy);
            shift.columns = shift.rows = graded_laurent_order(order_, dx, dy) + 1;
            shift.matrix = across_matrix_.data();
            set_powers(1.0L, inverse, shift.in);
            set_powers(inverse, -inverse, shift.out);
            shift.row = across_row_.data();
            shift.has_logarithm = true;
            shift.log_distance = std::log(std::hypot(static_cast<double>(dx), static_cast<double>(dy)));
        }
}

void LaurentOperators::make_children() {
    for (int quadrant = 0; quadrant < 4; ++quadrant) {
        const Complex s((quadrant & 1) != 0 ? 0.25L : -0.25L, (quadrant & 2) != 0 ? 0.25L : -0.25L);
        const Complex inverse = 0.5L / s;
        auto& up = up_[static_cast<std::size_t>(quadrant)];
        up.columns = up.rows = order_.order + 1;
        auto& down = down_[static_cast<std::size_t>(quadrant)];
        down = up;
        up.matrix = up_matrix_.data();
        set_powers(1.0L, inverse, up.in);
        set_powers(1.0L, s, up.out);
        down.matrix = down_matrix_.data();
        set_powers(1.0L, s, down.in);
        set_powers(0.5L, inverse, down.out);
        down.row = down_row_.data();
        down.factor[0] = static_cast<double>(s.real());
        down.factor[1] = static_cast<double>(s.imag());
    }
}

} // namespace farfield
