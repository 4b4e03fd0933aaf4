#include "dynamics/initial/hernquist_distribution.h"

#include <cmath>

namespace farfield {
namespace {

// arcsin q for 0 ≤ q ≤ 1: three halvings of the angle, then the series. Only + − × ÷ √, for the same bits
// everywhere.
double arcsine(double q) {
    double cosine = std::sqrt((1.0 - q) * (1.0 + q));
    for (int i = 0; i < 3; ++i) {
        const double half_cosine = std::sqrt(0.5 * (1.0 + cosine));
        q = q / (2.0 * half_cosine);
        cosine = half_cosine;
    }
    double term = q;
    double sum = q;
    for (int k = 1; k <= 12; ++k) { // q ≤ sin(π/16): the next term is below 2^-60
        term *= q * q * ((2.0 * k - 1.0) / (2.0 * k));
        sum += term / (2.0 * k + 1.0);
    }
    return 8.0 * sum;
}

} // namespace

double hernquist_distribution(double q2) {
    const double q = std::sqrt(q2);
    const double u = 1.0 - q2;
    double numerator = 0.0;
    if (q2 < 0.04) { // the terms of the closed form cancel: its series
        const double series =
            25.6 + q2 * (-192.0 / 7.0 + q2 * (16.0 / 3.0 + q2 * (8.0 / 11.0 + q2 * (3.0 / 13.0 + q2 * 0.1))));
        numerator = q2 * q2 * q * series;
    } else {
        numerator = 3.0 * arcsine(q) + q * std::sqrt(u) * (1.0 - 2.0 * q2) * (8.0 * q2 * q2 - 8.0 * q2 - 3.0);
    }
    return numerator / (u * u * std::sqrt(u));
}

} // namespace farfield
