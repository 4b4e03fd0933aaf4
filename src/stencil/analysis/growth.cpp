// Repeated squaring, and the parts of a system that depend on each other.
#include "stencil/analysis/growth.h"

#include <algorithm>
#include <cmath>

namespace farfield::stencil {

ComplexMatrix ComplexMatrix::identity(std::size_t size) {
    ComplexMatrix out(size);
    for (std::size_t i = 0; i < size; ++i) out.at(i, i) = 1;
    return out;
}

double ComplexMatrix::largest() const {
    double out = 0;
    for (const auto& value : values_) {
        const double size = std::max(std::fabs(value.real()), std::fabs(value.imag()));
        if (!(size <= out)) out = size; // NaN is kept
    }
    return out;
}

// Without std::complex's operator*, which looks for infinities.
ComplexMatrix ComplexMatrix::operator*(const ComplexMatrix& other) const {
    ComplexMatrix out(size_);
    for (std::size_t i = 0; i < size_; ++i)
        for (std::size_t k = 0; k < size_; ++k) {
            const double re = at(i, k).real();
            const double im = at(i, k).imag();
            if (re == 0 && im == 0) continue;
            for (std::size_t j = 0; j < size_; ++j) {
                const auto& right = other.at(k, j);
                out.at(i, j) += std::complex<double>(re * right.real() - im * right.imag(),
                                                     re * right.imag() + im * right.real());
            }
        }
    return out;
}

double growth_factor(ComplexMatrix g) {
    constexpr int squarings = 20;
    double log_norm = 0; // of the power, beyond the matrix at hand
    double before = 0;
    for (int i = 0; i <= squarings; ++i) {
        if (i > 0) g = g * g;
        const double size = g.largest();
        if (size == 0) return 0;
        if (!std::isfinite(size)) return size;
        before = log_norm;
        log_norm = 2 * log_norm + std::log(size);
        if (i == 0) log_norm = std::log(size);
        for (std::size_t row = 0; row < g.size(); ++row)
            for (std::size_t column = 0; column < g.size(); ++column) g.at(row, column) /= size;
    }
    return std::exp((log_norm - before) / std::ldexp(1.0, squarings - 1));
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
