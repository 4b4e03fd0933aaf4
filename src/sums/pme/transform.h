// A real mesh multiplied in Fourier space by factors that are even in each wave number: lines along x, then
// y, then z, and back. Lines are tasks of threads and ranks; each is transformed alike whoever does it.
#pragma once

#include "backend/threads/work_watch.h"
#include "base/aligned.h"
#include "sums/pme/mesh_ranks.h"

#include <array>
#include <complex>
#include <cstdint>
#include <span>

namespace farfield {

class MeshTransform {
public:
    /// `ranks`: null where this process is alone.
    MeshTransform(const std::array<std::int32_t, 3>& mesh, int threads, comm::Transport* ranks = nullptr);

    /// `mesh` is [z][y][x] and is overwritten; `factors` [z][y][x] for 0 ≤ index ≤ n/2 of each axis. Ranks
    /// have their planes, before and after. All of them call it, and take part to the end whatever their
    /// watches say.
    void multiply(RawVector<double>& mesh, const RawVector<double>& factors, WorkWatch& watch);

    /// Of the factors this process takes those of row y ≤ n/2.
    [[nodiscard]] bool takes_factors(std::int64_t y) const;

    /// What `multiply` tells the watch.
    [[nodiscard]] double work() const;
    [[nodiscard]] const MeshRanks& parts() const { return parts_; }

private:
    using Complex = std::complex<double>;

    void forward_plane(const double* plane, Complex* spectrum) const;
    void backward_plane(Complex* spectrum, double* plane) const;
    [[nodiscard]] double work_of_a_part() const;
    [[nodiscard]] std::span<double> spectrum_numbers();
    void multiply_columns(std::int64_t y, const RawVector<double>& factors);

    std::array<std::int64_t, 3> n_;
    std::int64_t half_; ///< complex numbers of a line along x
    int threads_;
    MeshRanks parts_;
    RawVector<Complex> spectrum_; ///< [z][y][x], half of it along x
};

} // namespace farfield
