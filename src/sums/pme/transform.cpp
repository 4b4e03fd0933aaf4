#include "sums/pme/transform.h"

#include "backend/threads/parallel.h"
#include "sums/pme/line_transform.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace farfield {
namespace {

using Complex = std::complex<double>;

/// Lines that are copied together out of an array across them: numbers of a few cache lines.
constexpr std::int64_t batch = 8;

// Calls body(first, count, lines) for batches of `across` lines of n numbers, `stride` apart, that lie side
// by side at `data`: lines[b·n + i] is number i of line first + b, read before and written back after the
// call.
template <class Body>
void for_lines(Complex* data, std::int64_t across, std::int64_t n, std::int64_t stride, const Body& body) {
    thread_local std::vector<Complex> lines;
    lines.resize(static_cast<std::size_t>(batch * n));
    for (std::int64_t first = 0; first < across; first += batch) {
        const auto count = std::min(batch, across - first);
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t b = 0; b < count; ++b)
                lines[static_cast<std::size_t>(b * n + i)] = data[i * stride + first + b];
        body(first, count, lines.data());
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t b = 0; b < count; ++b)
                data[i * stride + first + b] = lines[static_cast<std::size_t>(b * n + i)];
    }
}

std::vector<Complex>& scratch(std::int64_t n) {
    thread_local std::vector<Complex> numbers;
    if (static_cast<std::int64_t>(numbers.size()) < n) numbers.resize(static_cast<std::size_t>(n));
    return numbers;
}

} // namespace

MeshTransform::MeshTransform(const std::array<std::int32_t, 3>& mesh, int threads, comm::Transport* ranks)
    : n_{mesh[0], mesh[1], mesh[2]}, half_(n_[0] / 2 + 1), threads_(threads), parts_(mesh, ranks),
      spectrum_(static_cast<std::size_t>(half_ * n_[1] * n_[2])) {}

// Of a plane, and of the lines along z of a row.
double MeshTransform::work_of_a_part() const {
    const auto points = static_cast<double>(n_[0] * n_[1] * n_[2]);
    return 0.5 * points * std::log2(points) / static_cast<double>(2 * n_[2] + n_[1]);
}

double MeshTransform::work() const {
    return work_of_a_part() * static_cast<double>(2 * parts_.planes().size() + parts_.rows().size());
}

bool MeshTransform::takes_factors(std::int64_t y) const {
    const auto& own = parts_.rows();
    const auto is_own = [&](std::int64_t row) { return own.begin <= row && row < own.end; };
    return is_own(y) || is_own(n_[1] - y);
}

std::span<double> MeshTransform::spectrum_numbers() {
    return {reinterpret_cast<double*>(spectrum_.data()), 2 * spectrum_.size()}; // as std::complex lets one
}

void MeshTransform::forward_plane(const double* plane, Complex* spectrum) const {
    for (std::int64_t y = 0; y < n_[1]; ++y) transform_real(plane + y * n_[0], spectrum + y * half_, n_[0]);
    for_lines(spectrum, half_, n_[1], half_, [&](std::int64_t, std::int64_t count, Complex* lines) {
        auto* const out = scratch(n_[1]).data();
        for (std::int64_t b = 0; b < count; ++b) {
            transform_forward(lines + b * n_[1], out, n_[1]);
            std::copy_n(out, n_[1], lines + b * n_[1]);
        }
    });
}

void MeshTransform::backward_plane(Complex* spectrum, double* plane) const {
    for_lines(spectrum, half_, n_[1], half_, [&](std::int64_t, std::int64_t count, Complex* lines) {
        auto* const out = scratch(n_[1]).data();
        for (std::int64_t b = 0; b < count; ++b) {
            transform_backward(lines + b * n_[1], out, n_[1]);
            std::copy_n(out, n_[1], lines + b * n_[1]);
        }
    });
    for (std::int64_t y = 0; y < n_[1]; ++y)
        transform_to_real(spectrum + y * half_, plane + y * n_[0], n_[0]);
}

void MeshTransform::multiply_columns(std::int64_t y, const RawVector<double>& factors) {
    const auto n = n_[2];
    const auto quarter = (n_[1] / 2 + 1) * half_; // factors of a plane
    const double* const of_row = factors.data() + std::min(y, n_[1] - y) * half_;
    const auto body = [&](std::int64_t first, std::int64_t count, Complex* lines) {
        auto* const out = scratch(n).data();
        for (std::int64_t b = 0; b < count; ++b) {
            transform_forward(lines + b * n, out, n);
            for (std::int64_t z = 0; z < n; ++z) out[z] *= of_row[std::min(z, n - z) * quarter + first + b];
            transform_backward(out, lines + b * n, n);
        }
    };
    for_lines(spectrum_.data() + y * half_, half_, n, half_ * n_[1], body);
}

void MeshTransform::multiply(RawVector<double>& mesh, const RawVector<double>& factors, WorkWatch& watch) {
    const auto points = n_[0] * n_[1], waves = half_ * n_[1];
    const double part = work_of_a_part();
    const auto for_own = [&](const MeshRanks::Part& own, const auto& body) {
        parallel_for(threads_, own.size(), [&](std::int64_t i) {
            if (watch.stopped()) return;
            body(own.begin + i);
            watch.done(part);
        });
    };
    for_own(parts_.planes(),
            [&](std::int64_t z) { forward_plane(mesh.data() + z * points, spectrum_.data() + z * waves); });
    parts_.planes_to_rows(spectrum_numbers(), 2 * half_);
    for_own(parts_.rows(), [&](std::int64_t y) { multiply_columns(y, factors); });
    parts_.rows_to_planes(spectrum_numbers(), 2 * half_);
    for_own(parts_.planes(),
            [&](std::int64_t z) { backward_plane(spectrum_.data() + z * waves, mesh.data() + z * points); });
}

} // namespace farfield
