// Repeated squaring, and the parts of a system that depend on each other.
#include "stencil/analysis/stability/growth.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace farfield::stencil {

ComplexMatrix ComplexMatrix::identity(std::size_t size) {
    ComplexMatrix out(size);
    for (std::size_t i = 0; i < size; ++i) out.at(i, i) = 1;
    return out;
}

double ComplexMatrix::largest() const {
    double most = 0;
    for (const auto& value : values_)
        for (const double part : {std::fabs(value.real()), std::fabs(value.imag())})
            if (!(part <= most)) most = part; // NaN is kept
    return most;
}

namespace {

// A matrix, divided by `scale`, and its powers, real and imaginary parts apart and rows filled up with zeros
// to whole blocks, so that compilers make vectors of them. T: what is computed in.
template <class T>
class Powers {
public:
    Powers(const ComplexMatrix& g, double scale)
        : size_(g.size()), stride_((size_ + block - 1) / block * block), im_(size_ * stride_),
          parts_(2 * im_), next_(parts_.size()) {
        for (std::size_t i = 0; i < size_; ++i)
            for (std::size_t j = 0; j < size_; ++j) {
                parts_[i * stride_ + j] = g.at(i, j).real() / scale;
                parts_[im_ + i * stride_ + j] = g.at(i, j).imag() / scale;
            }
    }

    void square() {
        for (std::size_t i = 0; i < size_; ++i)
            for (std::size_t j = 0; j < stride_; j += block) square(i, j);
        parts_.swap(next_);
    }

    /// The root of the sum of the squares of all entries.
    T norm() const {
        std::array<T, block> sums = {};
        for (std::size_t i = 0; i < parts_.size(); i += block)
            for (std::size_t l = 0; l < block; ++l) sums[l] += parts_[i + l] * parts_[i + l];
        return std::sqrt(sums[0] + sums[1] + (sums[2] + sums[3]));
    }

    void multiply_by(T value) {
        for (auto& part : parts_) part *= value;
    }

private:
    static constexpr std::size_t block = 4;

    void square(std::size_t i, std::size_t first) {
        std::array<T, block> re = {};
        std::array<T, block> im = {};
        for (std::size_t k = 0; k < size_; ++k) {
            const T left_re = parts_[i * stride_ + k];
            const T left_im = parts_[im_ + i * stride_ + k];
            const T* right_re = &parts_[k * stride_ + first];
            const T* right_im = right_re + im_;
            for (std::size_t l = 0; l < block; ++l) re[l] += left_re * right_re[l] - left_im * right_im[l];
            for (std::size_t l = 0; l < block; ++l) im[l] += left_re * right_im[l] + left_im * right_re[l];
        }
        std::copy(re.begin(), re.end(), &next_[i * stride_ + first]);
        std::copy(im.begin(), im.end(), &next_[im_ + i * stride_ + first]);
    }

    std::size_t size_;
    std::size_t stride_;
    std::size_t im_; ///< where the imaginary parts begin
    std::vector<T> parts_;
    std::vector<T> next_;
};

} // namespace

namespace {

// In the norm of Frobenius |AB| ≤ |A||B|, so that the result below, (|G^2n|/|G^n|)^(1/n), is at most
// |G^m|^(1/m) for any power m on the way to n = 2^squarings/2.
template <class T>
double growth_of_powers(const ComplexMatrix& g, double scale, double negligible, int squarings) {
    const double log_negligible = std::log(negligible);
    Powers<T> powers(g, scale);
    T log_norm = std::log(T(scale)); // of the power, beyond the matrix at hand
    T before = 0;
    for (int i = 0; i <= squarings; ++i) {
        if (i > 0) powers.square();
        const T norm = powers.norm();
        if (norm == 0) return 0;
        before = log_norm;
        log_norm = (i == 0 ? log_norm : 2 * log_norm) + std::log(norm);
        if (i < squarings && log_norm <= std::ldexp(log_negligible, i)) return negligible;
        powers.multiply_by(1 / norm);
    }
    return static_cast<double>(std::exp((log_norm - before) / std::ldexp(T(1), squarings - 1)));
}

} // namespace

double growth_factor(const ComplexMatrix& g, double negligible) {
    const double scale = g.largest();
    if (!std::isfinite(scale)) return scale;
    if (scale == 0) return 0;
    const double growth = growth_of_powers<double>(g, scale, negligible, 20);
    // The rounding of doubles turns a pair of equal eigenvalues of modulus 1 into a growth of 5e-6.
    constexpr double near_one = 3e-4;
    if (growth <= negligible || std::fabs(growth - 1) > near_one) return growth;
    return std::max(negligible, growth_of_powers<long double>(g, scale, negligible, 25));
}

std::vector<std::vector<std::size_t>> coupled_parts(const std::vector<std::vector<bool>>& depends) {
    const auto n = depends.size();
    auto reaches = depends;
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t i = 0; i < n; ++i)
            if (reaches[i][k])
                for (std::size_t j = 0; j < n; ++j)
                    if (reaches[k][j]) reaches[i][j] = true;
    std::vector<std::vector<std::size_t>> parts;
    std::vector<bool> placed(n, false);
    for (std::size_t i = 0; i < n; ++i) {
        if (placed[i]) continue;
        parts.emplace_back();
        for (std::size_t j = i; j < n; ++j)
            if (j == i || (reaches[i][j] && reaches[j][i])) {
                placed[j] = true;
                parts.back().push_back(j);
            }
    }
    return parts;
}

} // namespace farfield::stencil
