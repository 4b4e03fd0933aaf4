#include "sums/expansions/local.h"

#include "sums/expansions/cartesian_terms.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace farfield {
namespace {

struct Exponents {
    int of[3];
    [[nodiscard]] int degree() const { return of[0] + of[1] + of[2]; }
};

int place_of(const Exponents& e) {
    const int apart = e.of[1] + e.of[2];
    return monomials_below(e.degree()) + apart * (apart + 1) / 2 + e.of[2];
}

/// a_mj m!/α!, of all sums.
std::array<double, local_sums> make_factors(const std::vector<Exponents>& monomials) {
    std::array<double, local_sums> out{};
    std::size_t to = 0;
    for (int j = 0; 2 * j <= local_order; ++j)
        for (int k = 0; k < monomials_below(local_order - 2 * j + 1); ++k) {
            const auto& e = monomials[static_cast<std::size_t>(k)];
            double factor = 1.0;
            for (int i = 1; i <= e.degree() + j; ++i) factor *= 2 * i - 1;
            for (int i = 1; i <= j; ++i) factor /= -2.0 * i;
            for (const int n : e.of)
                for (int i = 2; i <= n; ++i) factor /= i;
            out[to++] = factor;
        }
    return out;
}

struct LocalTables {
    std::vector<Exponents> monomials; ///< in their order
    std::array<double, local_sums> factors{};
};

const LocalTables& local_tables() {
    static const auto made = [] {
        LocalTables out;
        for (int d = 0; d <= local_order; ++d)
            for (int apart = 0; apart <= d; ++apart)
                for (int c = 0; c <= apart; ++c) out.monomials.push_back({{d - apart, apart - c, c}});
        out.factors = make_factors(out.monomials);
        return out;
    }();
    return made;
}

} // namespace

// Horner's rule in |s|²: from the highest j down.
void add_local_sums(const double sums[local_sums], double polynomial[local_numbers]) {
    const auto& [monomials, factors] = local_tables();
    double sum[local_numbers] = {};
    int first = local_sums;
    for (int j = local_order / 2; j >= 0; --j) {
        const int most = local_order - 2 * j;
        double next[local_numbers] = {};
        for (int k = 0; k < monomials_below(most - 1) && j < local_order / 2; ++k)
            for (int axis = 0; axis < 3; ++axis) {
                auto e = monomials[static_cast<std::size_t>(k)];
                e.of[axis] += 2;
                next[place_of(e)] += sum[k];
            }
        first -= monomials_below(most + 1);
        const double* const of_sums = factors.data() + first;
        for (int k = 0; k < monomials_below(most + 1); ++k) sum[k] = next[k] + of_sums[k] * sums[first + k];
    }
    for (int k = 0; k < local_numbers; ++k) polynomial[k] += sum[k];
}

// The transpose of what moments do, along each axis: from low degrees to high ones, as what is added has not
// been shifted along this axis.
void shift_local(const double from[local_numbers], const double shift[3], double scale,
                 double to[local_numbers]) {
    const auto terms = cartesian_terms(local_order);
    double of[local_numbers];
    std::copy_n(from, local_numbers, of);
    double powers[local_order + 1] = {1.0};
    const auto set_powers = [&](double base) {
        for (int k = 1; k <= local_order; ++k) powers[k] = powers[k - 1] * base;
    };
    for (int axis = 0; axis < 3; ++axis) {
        set_powers(shift[axis]);
        for (int t = terms.shift_terms[axis] - 1; t >= 0; --t) {
            const auto& term = terms.shift[axis][t];
            of[term.from] += term.weight * powers[term.power] * of[term.to];
        }
    }
    set_powers(scale);
    for (int k = 0; k < local_numbers; ++k) to[k] = of[k] * powers[terms.degree[k]];
}

template <class T>
void local_value_numbers_of(const double polynomial[local_numbers], double unit, T out[local_value_numbers]) {
    const auto& monomials = local_tables().monomials;
    for (int k = 0; k < local_numbers; ++k) {
        const auto& e = monomials[static_cast<std::size_t>(k)];
        out[k] = static_cast<T>(polynomial[k]);
        for (int axis = 0; axis < 3; ++axis) {
            if (e.of[axis] == 0) continue;
            auto lower = e;
            --lower.of[axis];
            out[local_numbers + 3 * place_of(lower) + axis] =
                static_cast<T>(-e.of[axis] * polynomial[k] / unit);
        }
    }
}

template void local_value_numbers_of<float>(const double*, double, float*);
template void local_value_numbers_of<double>(const double*, double, double*);

} // namespace farfield
