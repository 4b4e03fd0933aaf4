// Distances between points whose dimension the compiler knows.
#pragma once

#include "sums/kernels/exact.h"

#include <type_traits>

namespace farfield {

/// Calls body(std::integral_constant<int, dimension>).
template <int D = 1, class Body>
void with_dimension(int dimension, const Body& body) {
    if constexpr (D < most_dimensions) {
        if (dimension > D) return with_dimension<D + 1>(dimension, body);
    }
    body(std::integral_constant<int, D>{});
}

template <int D>
double square_distance(const double* a, const double* b) {
    double sum = 0.0;
    for (int k = 0; k < D; ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

} // namespace farfield
