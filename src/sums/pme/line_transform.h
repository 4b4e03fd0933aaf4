// Discrete Fourier transforms of one line, by Eigen: here because its header takes long to compile. None is
// scaled: forward and backward give n times what was there. Each thread has its own factors of each length.
#pragma once

#include <complex>
#include <cstdint>

namespace farfield {

/// n real numbers into n/2 + 1 complex ones, Σ x_j e^(−2πi jk/n).
void transform_real(const double* from, std::complex<double>* to, std::int64_t n);
/// The way back, of a spectrum whose other half is its complex conjugate.
void transform_to_real(const std::complex<double>* from, double* to, std::int64_t n);
/// n complex numbers, e^(−2πi jk/n) forward and e^(+2πi jk/n) backward.
void transform_forward(const std::complex<double>* from, std::complex<double>* to, std::int64_t n);
void transform_backward(const std::complex<double>* from, std::complex<double>* to, std::int64_t n);

} // namespace farfield
