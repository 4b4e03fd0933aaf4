// What far images do whose charges are softened, 1/√(r²+ε²), and so have no expansions in harmonics: their
// sum as a polynomial in the difference of two points of two cells of the box.
//
// With t the difference from that of the cells' centres, in units of the cells' sides, each kind of pairs of
// cells has Σ_abc c_abc t_x^a t_y^b t_z^c, a + b + c ≤ K: the interpolant at Chebyshev points, as powers of
// t. For t = u − v it is Taylor's theorem that separates targets and sources,
//   L_i = Σ_b (i + b)! c_(i+b) M_b,   M_b = Σ q (−v)^b/b!,   φ = Σ_i L_i u^i/i!.
// |u|, |v| ≤ ½ keep the powers well conditioned.
//
// The sum over the lattice is meant as lattice_tail.h has it, along three axes of mean 0. What is beside
// harmonics there is so beside them with the quadratic function of tin foil.
#pragma once

#include "sums/lattice/images/image_grid.h"
#include "sums/lattice/images/lattice_tail.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace farfield {
namespace comm {
class Transport;
}

/// Places of the powers of total degree up to K, those of z next to each other.
class Powers {
public:
    explicit Powers(int degree);
    [[nodiscard]] int degree() const { return degree_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    /// Of x^a y^b z^0.
    [[nodiscard]] std::size_t row(int a, int b) const {
        const int place = a * (degree_ + 1) + b;
        return rows_[static_cast<std::size_t>(place)];
    }

private:
    int degree_;
    std::size_t size_ = 0;
    std::vector<std::size_t> rows_;
};

/// What may be left out, as root mean squares over differences in the box: of 1/R, and of its gradient.
struct SoftGoal {
    double value = 1e-10, gradient = 1e-10;

    friend bool operator==(const SoftGoal&, const SoftGoal&) = default;
};

/// What an image does to a point: 1/√(r²+ε²), or that less 1/r, which harmonics carry then: small beside it
/// where ε is small beside the distance of far images.
struct SoftKernel {
    double softening = 0.0; ///< ε, in the unit of the grid
    bool beside_harmonics = false;

    friend bool operator==(const SoftKernel&, const SoftKernel&) = default;
};

/// From the box, at least.
double nearest_far_image(const ImageGrid& grid);
/// Digits of the kernel at the nearest far image that are asked for, of values and gradients: not all where
/// the goal is larger.
double digits_of(const SoftGoal& goal, const ImageGrid& grid, const SoftKernel& kernel);

class SoftOperator {
public:
    /// @param ranks  that make it together; null: this process alone
    SoftOperator(const ImageGrid& grid, const SoftKernel& kernel, const SoftGoal& goal, int threads,
                 comm::Transport* ranks = nullptr);

    [[nodiscard]] const ImageGrid& grid() const { return grid_; }
    [[nodiscard]] const Powers& powers() const { return powers_; }
    /// Of a cell, the unit of u and v.
    [[nodiscard]] const Lengths& sides() const { return sides_; }
    /// (a! b! c!) c_abc of a pair of cells; pairs of the same kind share it.
    [[nodiscard]] const std::vector<double>& series(int target, int source) const {
        return series_.at(grid_.kind(target, source));
    }
    /// Adds L of a cell: what the images of a cell of those M send.
    void add(int target, int source, std::span<const double> moments, std::span<double> local) const;
    /// Multiply-adds of all pairs of cells.
    [[nodiscard]] double work() const;

private:
    ImageGrid grid_;
    Lengths sides_{};
    Powers powers_{0};
    std::map<std::uint64_t, std::vector<double>> series_; ///< by kinds of pairs
};

/// Made once; the last few are kept. Ranks, which all ask for the same, make it together unless all have it.
std::shared_ptr<const SoftOperator> soft_operator(const ImageGrid& grid, const SoftKernel& kernel,
                                                  const SoftGoal& goal, int threads,
                                                  comm::Transport* ranks = nullptr);

/// Multiply-adds for a pair of cells.
double soft_work_of_a_pair(int degree);
/// The degree that errors of about `goal` beside the kernel at the nearest far image need, about.
int soft_degree(double goal, int separation);
/// Powers of total degree up to that.
double soft_powers(int degree);
/// What making the operators of a grid takes one core, about.
double soft_operator_seconds(const ImageGrid& grid, int degree);

} // namespace farfield
