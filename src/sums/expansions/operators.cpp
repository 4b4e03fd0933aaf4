// Each entry follows from a rule for complex harmonics: real functions are √2 s times real or imaginary parts
// for m > 0, and s times the value for m = 0, s = √((l−m)!(l+m)!). Sums over ±m of the complex rules then
// leave two terms, m + k and m − k.
#include "sums/expansions/operators.h"

#include <cmath>
#include <complex>
#include <cstddef>
#include <initializer_list>

namespace farfield {
namespace {

double sign_of(int m) { return (m & 1) != 0 ? -1.0 : 1.0; }

double factorial(int n) {
    static const auto table = [] {
        std::vector<double> values{1.0};
        for (int k = 1; k <= 2 * highest_order + 2; ++k) values.push_back(values.back() * k);
        return values;
    }();
    return table[static_cast<std::size_t>(n)];
}

/// s, divided by √2 for m = 0: the factor of the real functions is then √2 times this for all m.
double scale(int l, int m) {
    return std::sqrt(factorial(l - m) * factorial(l + m)) * (m == 0 ? std::sqrt(0.5) : 1.0);
}
double scale(const Harmonic& h) { return scale(h.degree, h.order); }

} // namespace

/// m ≥ 0, as the recurrences give them.
class SolidHarmonics::Recurrence {
public:
    using Complex = std::complex<long double>;
    explicit Recurrence(int most) : degree(most), values(in_rows(most + 1, 0, most + 1)) {}
    Complex& of(int l, int m) { return values[in_rows(l, m, degree + 1)]; }
    [[nodiscard]] const Complex& of(int l, int m) const { return values[in_rows(l, m, degree + 1)]; }

    int degree;
    std::vector<Complex> values;
};

SolidHarmonics::SolidHarmonics(const Recurrence& values) : most_order_(values.degree + 1) {
    const auto size = in_rows(values.degree + 1, 0, 2 * most_order_ + 1);
    real_.resize(size);
    imag_.resize(size);
    for (int l = 0; l <= values.degree; ++l)
        for (int m = 0; m <= l; ++m) {
            const auto& value = values.of(l, m);
            real_[place(l, m)] = static_cast<double>(value.real());
            imag_[place(l, m)] = static_cast<double>(value.imag());
            real_[place(l, -m)] = sign_of(m) * real_[place(l, m)];
            imag_[place(l, -m)] = m == 0 ? 0.0 : -sign_of(m) * imag_[place(l, m)];
        }
}

SolidHarmonics SolidHarmonics::regular(int degree, const std::array<double, 3>& point) {
    Recurrence h(degree);
    const long double x = point[0];
    const long double y = point[1];
    const long double z = point[2];
    const long double r2 = x * x + y * y + z * z;
    h.of(0, 0) = 1.0L;
    for (int m = 1; m <= degree; ++m)
        h.of(m, m) = h.of(m - 1, m - 1) * Recurrence::Complex(x, y) / (2.0L * m);
    for (int m = 0; m < degree; ++m) {
        h.of(m + 1, m) = z * h.of(m, m);
        for (int l = m + 2; l <= degree; ++l)
            h.of(l, m) = ((2 * l - 1) * z * h.of(l - 1, m) - r2 * h.of(l - 2, m)) /
                         static_cast<long double>((l - m) * (l + m));
    }
    return SolidHarmonics(h);
}

SolidHarmonics SolidHarmonics::irregular(int degree, const std::array<double, 3>& point) {
    Recurrence h(degree);
    const long double x = point[0];
    const long double y = point[1];
    const long double z = point[2];
    const long double r2 = x * x + y * y + z * z;
    h.of(0, 0) = 1.0L / std::sqrt(r2);
    for (int m = 1; m <= degree; ++m)
        h.of(m, m) = h.of(m - 1, m - 1) * Recurrence::Complex(x, y) * (2.0L * m - 1.0L) / r2;
    for (int m = 0; m < degree; ++m) {
        h.of(m + 1, m) = (2.0L * m + 1.0L) * z * h.of(m, m) / r2;
        for (int l = m + 2; l <= degree; ++l)
            h.of(l, m) = ((2 * l - 1) * z * h.of(l - 1, m) -
                          static_cast<long double>((l - 1) * (l - 1) - m * m) * h.of(l - 2, m)) /
                         r2;
    }
    return SolidHarmonics(h);
}

HarmonicScales::HarmonicScales(int degree) : degree_(degree), values_(in_rows(degree + 1, 0, degree + 1)) {
    for (int l = 0; l <= degree; ++l)
        for (int m = 0; m <= l; ++m) values_[in_rows(l, m, degree + 1)] = scale(l, m);
}

MultipoleToLocal::MultipoleToLocal(int order, const std::array<double, 3>& d)
    : harmonics_(SolidHarmonics::irregular(2 * order, d)), scales_(order) {}

Shift::Shift(int order, const std::array<double, 3>& d)
    : harmonics_(SolidHarmonics::regular(order, d)), scales_(order) {}

double Shift::operator()(const Harmonic& i, const Harmonic& j) const {
    if (j.degree > i.degree) return 0.0;
    const int l = i.degree - j.degree;
    const double sign = sign_of(j.order);
    const auto real = [&](int m) { return std::abs(m) <= l ? harmonics_.real(l, m) : 0.0; };
    const auto imag = [&](int m) { return std::abs(m) <= l ? harmonics_.imag(l, m) : 0.0; };
    const int minus = i.order - j.order;
    const int plus = i.order + j.order;
    const double value = i.sine == j.sine ? real(minus) + (i.sine ? -sign : sign) * real(plus)
                         : i.sine         ? imag(minus) + sign * imag(plus)
                                          : sign * imag(plus) - imag(minus);
    return value * scales_.of(i) / scales_.of(j) * (j.order == 0 ? 0.5 : 1.0);
}

namespace {

/// A sum of complex harmonics of one degree, Σ c_m H_l^m, whose real or imaginary part is wanted.
struct ComplexTerm {
    int order;
    std::complex<double> weight;
};

/// Adds the terms of the real or imaginary part of Σ c_m H_l^m times `factor`, where H_l^m = unit(l, m)·(c +
/// i s) in the functions c and s of a basis.
template <class Unit>
void add_terms(const HarmonicBasis& basis, std::int32_t from, int degree,
               std::initializer_list<ComplexTerm> terms, bool imaginary, double factor, const Unit& unit,
               std::vector<SparseTerm>& out) {
    for (const auto& [order, weight] : terms) {
        const int m = std::abs(order);
        if (degree < 0 || m > degree) continue;
        const double conjugate = order < 0 ? -1.0 : 1.0; // H^−m = (−1)^m conj H^m
        const double common = factor * unit(degree, m) * (order < 0 ? sign_of(m) : 1.0);
        const double cosine = imaginary ? weight.imag() : weight.real();
        const double sine = conjugate * (imaginary ? weight.real() : -weight.imag());
        if (cosine != 0.0) out.push_back({basis.place(degree, m, false), from, common * cosine});
        if (m > 0 && sine != 0.0) out.push_back({basis.place(degree, m, true), from, common * sine});
    }
}

} // namespace

// ∂z R_l^m = R_{l−1}^m, (∂x − i∂y) R_l^m = R_{l−1}^{m−1}, (∂x + i∂y) R_l^m = −R_{l−1}^{m+1}.
std::vector<SparseTerm> local_derivative(const HarmonicBasis& basis, int axis) {
    std::vector<SparseTerm> out;
    const auto unit = [](int l, int m) { return 1.0 / scale(l, m); };
    for (int place = 0; place < basis.size(); ++place) {
        const auto& h = basis.at(place);
        if (h.degree < 1) continue;
        const int m = h.order;
        const std::complex<double> half_i(0.0, 0.5);
        const auto add = [&](std::initializer_list<ComplexTerm> terms) {
            add_terms(basis, place, h.degree - 1, terms, h.sine, scale(h), unit, out);
        };
        if (axis == 0) add({{m - 1, 0.5}, {m + 1, -0.5}});
        if (axis == 1) add({{m - 1, half_i}, {m + 1, half_i}});
        if (axis == 2) add({{m, 1.0}});
    }
    return out;
}

// ∂z I_l^m = −I_{l+1}^m, (∂x − i∂y) I_l^m = I_{l+1}^{m−1}, (∂x + i∂y) I_l^m = −I_{l+1}^{m+1}; the functions
// of the multipole expansion are √2/s times Re or Im I_l^m, and for m = 0 1/s times I_l^0.
std::vector<SparseTerm> multipole_derivative(const HarmonicBasis& basis, const HarmonicBasis& higher,
                                             int axis) {
    std::vector<SparseTerm> out;
    const auto unit = [](int l, int m) { return (m == 0 ? 2.0 : 1.0) * scale(l, m); };
    for (int place = 0; place < basis.size(); ++place) {
        const auto& h = basis.at(place);
        if (h.degree < 0) continue;
        const int m = h.order;
        const double factor = (m == 0 ? 0.5 : 1.0) / scale(h);
        const std::complex<double> half_i(0.0, 0.5);
        const auto add = [&](std::initializer_list<ComplexTerm> terms) {
            add_terms(higher, place, h.degree + 1, terms, h.sine, factor, unit, out);
        };
        if (axis == 0) add({{m - 1, 0.5}, {m + 1, -0.5}});
        if (axis == 1) add({{m - 1, half_i}, {m + 1, half_i}});
        if (axis == 2) add({{m, -1.0}});
    }
    return out;
}

} // namespace farfield
