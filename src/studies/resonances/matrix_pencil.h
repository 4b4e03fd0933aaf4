// Fits a series by a sum of few exponentials, x[m] = sum_k a_k z_k^m, with the matrix pencil in its
// state-space form (Hua and Sarkar, IEEE Trans. ASSP 38, 814, 1990): the dominant right singular vectors of
// the Hankel matrix of the series span the same space as the powers of the z_k.
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace farfield {

struct Exponential {
    std::complex<double> ratio;     ///< z: from one sample to the next
    std::complex<double> amplitude; ///< a: at the first sample
};

struct PencilFit {
    std::vector<Exponential> terms; ///< in no order
    double residual = 0;            ///< root mean square of what the terms leave, in units of the series
};

/// Singular values below `noise` of the largest, or within the floor that most of them form, are dropped.
/// @param width columns of the Hankel matrix, from 1 to samples − 2; more than twice the terms expected, best
/// between a third and a half of the samples. Work grows like samples·width².
/// @throws InvalidArgument for fewer than 4 samples, or a width out of range.
PencilFit matrix_pencil(std::span<const std::complex<double>> samples, std::size_t width, double noise);

} // namespace farfield
