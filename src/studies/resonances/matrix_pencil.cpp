#include "studies/resonances/matrix_pencil.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

using Matrix = Eigen::MatrixXcd;
using Vector = Eigen::VectorXcd;

// R of the Hankel matrix's QR decomposition has the same singular values and right singular vectors, and
// is small. One sided: a product Yᴴ·Y would lose half of the digits.
Matrix triangle_of_hankel(std::span<const std::complex<double>> samples, Eigen::Index width) {
    const auto rows = static_cast<Eigen::Index>(samples.size()) - width;
    Matrix hankel(rows, width + 1);
    for (Eigen::Index j = 0; j <= width; ++j)
        for (Eigen::Index i = 0; i < rows; ++i) hankel(i, j) = samples[static_cast<std::size_t>(i + j)];
    if (rows <= width + 1) return hankel;
    const Eigen::HouseholderQR<Matrix> qr(hankel);
    return qr.matrixQR().topRows(width + 1).triangularView<Eigen::Upper>();
}

// Noise makes a floor of many like values, of which the median is one; its largest are two to three times
// that.
Eigen::Index rank_of(const Eigen::VectorXd& values, double noise) {
    const double median = values(values.size() / 2);
    const double least = std::max(noise * values(0), 5 * median);
    Eigen::Index rank = 0;
    while (rank < values.size() && values(rank) > least) ++rank;
    return rank;
}

// Least squares for the amplitudes. Columns of ratios above 1 are scaled, so that no power overflows.
PencilFit fit_amplitudes(std::span<const std::complex<double>> samples, const Vector& ratios) {
    const auto m = static_cast<Eigen::Index>(samples.size());
    Matrix powers(m, ratios.size());
    Vector scales(ratios.size());
    for (Eigen::Index k = 0; k < ratios.size(); ++k) {
        const double size = std::abs(ratios(k));
        scales(k) = size > 1 ? std::pow(size, -static_cast<double>(m - 1)) : 1.0;
        std::complex<double> power = scales(k);
        for (Eigen::Index i = 0; i < m; ++i, power *= ratios(k)) powers(i, k) = power;
    }
    const Vector series = Eigen::Map<const Vector>(samples.data(), m);
    const Vector found = powers.colPivHouseholderQr().solve(series);
    PencilFit fit;
    fit.residual = (series - powers * found).norm() / std::sqrt(static_cast<double>(m));
    for (Eigen::Index k = 0; k < ratios.size(); ++k) fit.terms.push_back({ratios(k), found(k) * scales(k)});
    return fit;
}

} // namespace

PencilFit matrix_pencil(std::span<const std::complex<double>> samples, std::size_t width, double noise) {
    if (samples.size() < 4 || width < 1 || width + 2 > samples.size())
        throw InvalidArgument(
            fmt::format("a pencil of width {} does not fit a series of {} samples", width, samples.size()));
    const Eigen::JacobiSVD<Matrix> svd(triangle_of_hankel(samples, static_cast<Eigen::Index>(width)),
                                       Eigen::ComputeThinV);
    const auto& values = svd.singularValues();
    if (values(0) <= 0) return {};
    const auto rank = std::min(rank_of(values, noise), static_cast<Eigen::Index>(width));
    if (rank == 0) return fit_amplitudes(samples, Vector());
    // Rows of V belong to powers 0, 1, …: leaving out the last or the first shifts by one sample.
    const Matrix space = svd.matrixV().leftCols(rank).conjugate();
    const auto w = static_cast<Eigen::Index>(width);
    const Matrix step = space.topRows(w).colPivHouseholderQr().solve(space.bottomRows(w));
    return fit_amplitudes(samples, Eigen::ComplexEigenSolver<Matrix>(step, false).eigenvalues());
}

} // namespace farfield
