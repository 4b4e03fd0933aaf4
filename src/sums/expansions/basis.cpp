#include "sums/expansions/basis.h"

#include <cmath>

namespace farfield {

HarmonicBasis::HarmonicBasis(int order, int line)
    : order_(order), line_(line), places_(static_cast<std::size_t>(functions())) {
    for (int parity = 0; parity < parities; ++parity) {
        begin_[parity] = static_cast<int>(harmonics_.size());
        for (int l = 0; l <= order; ++l)
            for (int m = 0; m <= l; ++m)
                for (const bool sine : {false, true}) {
                    const Harmonic harmonic{l, m, sine};
                    if ((sine && m == 0) || harmonic.parity() != parity) continue;
                    places_[in_rows(l, sine ? -m : m, l + 1)] = static_cast<std::int32_t>(harmonics_.size());
                    harmonics_.push_back(harmonic);
                }
        while (harmonics_.size() % static_cast<std::size_t>(line) != 0) harmonics_.push_back({-1, 0, false});
    }
    begin_[parities] = static_cast<int>(harmonics_.size());
}

int HarmonicBasis::class_count(int parity, int degree) const {
    int count = 0;
    for (int place = begin_[parity]; place < begin_[parity + 1]; ++place) {
        const auto& harmonic = at(place);
        if (harmonic.degree >= 0 && harmonic.degree <= degree) ++count;
    }
    return count;
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
