#include "sums/pme/line_transform.h"

#include <unsupported/Eigen/FFT>

namespace farfield {
namespace {

using Transform = Eigen::FFT<double>;

Transform& of_this_thread() {
    thread_local Transform transform(Transform::impl_type(),
                                     Transform::Flag(Transform::HalfSpectrum | Transform::Unscaled));
    return transform;
}

} // namespace

void transform_real(const double* from, std::complex<double>* to, std::int64_t n) {
    of_this_thread().fwd(to, from, n);
}

void transform_to_real(const std::complex<double>* from, double* to, std::int64_t n) {
    of_this_thread().inv(to, from, n);
}

void transform_forward(const std::complex<double>* from, std::complex<double>* to, std::int64_t n) {
    of_this_thread().fwd(to, from, n);
}

void transform_backward(const std::complex<double>* from, std::complex<double>* to, std::int64_t n) {
    of_this_thread().inv(to, from, n);
}

} // namespace farfield
