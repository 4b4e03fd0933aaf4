// A real mesh multiplied in Fourier space by factors that are even in each wave number: lines along x, then
// y, then z, and back. Lines are tasks of threads; each is transformed alike whoever does it.
#pragma once

#include "backend/threads/work_watch.h"
#include "base/aligned.h"

#include <array>
#include <complex>
#include <cstdint>

namespace farfield {

class MeshTransform {
public:
    MeshTransform(const std::array<std::int32_t, 3>& mesh, int threads);

    /// `mesh` is [z][y][x] and is overwritten; `factors` [z][y][x] for 0 ≤ index ≤ n/2 of each axis.
    void multiply(RawVector<double>& mesh, const RawVector<double>& factors, WorkWatch& watch);

    /// What `multiply` tells the watch.
    [[nodiscard]] double work() const;

private:
    using Complex = std::complex<double>;

    void forward_plane(const double* plane, Complex* spectrum) const;
    void backward_plane(Complex* spectrum, double* plane) const;
    void multiply_columns(std::int64_t y, const RawVector<double>& factors);

    std::array<std::int64_t, 3> n_;
    std::int64_t half_; ///< complex numbers of a line along x
    int threads_;
    RawVector<Complex> spectrum_; ///< [z][y][x], half of it along x
};

} // namespace farfield
