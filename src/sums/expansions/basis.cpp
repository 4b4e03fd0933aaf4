#include "sums/expansions/basis.h"

#include <cmath>

namespace farfield {

std::vector<Harmonic> harmonics_to(int order) {
    std::vector<Harmonic> out;
    for (int l = 0; l <= order; ++l)
        for (int m = 0; m <= l; ++m)
            for (const bool sine : {false, true})
                if (!sine || m > 0) out.push_back({l, m, sine});
    return out;
}

HarmonicBasis::HarmonicBasis(int order, int line)
    : ParityBasis(order, line, harmonics_to(order)), places_(static_cast<std::size_t>(functions())) {
    for (int place = 0; place < size(); ++place) {
        const auto& [l, m, sine] = at(place);
        if (l >= 0) places_[in_rows(l, sine ? -m : m, l + 1)] = place;
    }
}

double climb_factor(int degree, int order) {
    return (2.0 * degree - 1.0) / std::sqrt(static_cast<double>((degree - order) * (degree + order)));
}

double climb_back_factor(int degree, int order) {
    const int m2 = order * order;
    return std::sqrt(static_cast<double>((degree - 1) * (degree - 1) - m2) /
                     static_cast<double>(degree * degree - m2));
}

double diagonal_factor(int order) {
    if (order == 1) return 1.0; // √((2m − 1)/2m), times the √2 that functions of m > 0 have
    return std::sqrt((2.0 * order - 1.0) / (2.0 * order));
}

} // namespace farfield
