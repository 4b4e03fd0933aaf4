#include "sums/expansions/cartesian_terms.h"

#include <array>
#include <cstddef>
#include <vector>

namespace farfield {
namespace {

int place_of(int a, int b, int c) {
    const int apart = b + c;
    return monomials_below(a + apart) + apart * (apart + 1) / 2 + c;
}

/// a_mj without 1/m!, which goes into the multinomial coefficients.
double series_factor(int m, int j) {
    double factor = 1.0;
    for (int k = 1; k <= m + j; ++k) factor *= 2 * k - 1;
    for (int k = 1; k <= j; ++k) factor /= -2.0 * k;
    return factor;
}

double factorial_of(int n) { return n < 2 ? 1.0 : n * factorial_of(n - 1); }

struct Tables {
    std::vector<FarTerm> numbers;
    std::vector<ShiftTerm> shift[3];
    std::vector<int> degree; ///< of each moment
};

// Σ q |y|^2j y^e from moments: (x² + y² + z²)^j.
void add_with_square(int to, double factor, int j, int a, int b, int c, std::vector<FarTerm>& out) {
    for (int k = 0; k <= j; ++k)
        for (int l = 0; k + l <= j; ++l)
            out.push_back(
                {to, place_of(a + 2 * (j - k - l), b + 2 * k, c + 2 * l),
                 factor * factorial_of(j) / (factorial_of(k) * factorial_of(l) * factorial_of(j - k - l))});
}

void add_shift(const std::array<int, 3>& exponents, Tables& out) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const int most = exponents[axis];
        for (int k = 0; k < most; ++k) {
            auto from = exponents;
            from[axis] = k;
            out.shift[axis].push_back({place_of(exponents[0], exponents[1], exponents[2]),
                                       place_of(from[0], from[1], from[2]), most - k,
                                       factorial_of(most) / (factorial_of(k) * factorial_of(most - k))});
        }
    }
}

Tables make_tables(int order) {
    Tables out;
    int to = 0;
    for (int j = order / 2; j >= 0; --j) {
        add_with_square(to++, series_factor(0, j), j, 0, 0, 0, out.numbers);
        for (int m = 1; m <= order - 2 * j; ++m)
            for (int apart = 0; apart < m; ++apart)
                for (int c = 0; c <= apart; ++c) {
                    const int a = m - 1 - apart;
                    const int b = apart - c;
                    const double factor =
                        series_factor(m, j) / (factorial_of(a) * factorial_of(b) * factorial_of(c));
                    add_with_square(to++, factor, j, a + 1, b, c, out.numbers);
                    add_with_square(to++, factor, j, a, b + 1, c, out.numbers);
                    add_with_square(to++, factor, j, a, b, c + 1, out.numbers);
                }
    }
    for (int d = 0; d <= order; ++d)
        for (int k = 0; k < monomials_of(d); ++k) out.degree.push_back(d);
    // from high degrees to low ones: what is added has not been shifted along this axis
    for (int d = order; d >= 0; --d)
        for (int apart = 0; apart <= d; ++apart)
            for (int c = 0; c <= apart; ++c) add_shift({d - apart, apart - c, c}, out);
    return out;
}

const Tables& tables_of(int order) {
    static const auto all = [] {
        std::array<Tables, most_cartesian_order + 1> tables;
        for (int p = 0; p <= most_cartesian_order; ++p) tables[static_cast<std::size_t>(p)] = make_tables(p);
        return tables;
    }();
    return all[static_cast<std::size_t>(order)];
}

} // namespace

void add_moments(int order, const double* const x[3], const double* strengths, int count, double* moments) {
    const int numbers = monomials_below(order + 1);
    double monomials[monomials_below(most_cartesian_order + 1)];
    for (int i = 0; i < count; ++i) {
        set_monomials(order + 1, x[0][i], x[1][i], x[2][i], monomials);
        for (int k = 0; k < numbers; ++k) moments[k] += strengths[i] * monomials[k];
    }
}

CartesianTerms cartesian_terms(int order) {
    const auto& tables = tables_of(order);
    CartesianTerms out;
    out.numbers = tables.numbers.data();
    out.number_terms = static_cast<int>(tables.numbers.size());
    for (std::size_t axis = 0; axis < 3; ++axis) {
        out.shift[axis] = tables.shift[axis].data();
        out.shift_terms[axis] = static_cast<int>(tables.shift[axis].size());
    }
    out.degree = tables.degree.data();
    return out;
}

void shift_moments(int order, const double* from, const double shift[3], double scale, double* to) {
    add_shifted_moments<most_cartesian_order>(cartesian_terms(order), order, from, shift, scale, to);
}

template <class T>
void far_numbers_of(int order, const double* moments, T* numbers) {
    set_far_numbers(cartesian_terms(order), moments, numbers);
}

template void far_numbers_of<float>(int, const double*, float*);
template void far_numbers_of<double>(int, const double*, double*);

} // namespace farfield
