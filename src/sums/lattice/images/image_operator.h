// From the multipole expansions of a box's cells to their local expansions, through all images that are far:
//   Λ_l^m(t) = (−1)^l Σ_c Σ_jk conj(M_j^k(c)) S_{l+j}^{m+k}(t, c),   S_l^m = Σ_n I_l^m(x_t − x_c − n),
// sums of irregular solid harmonics over the lattice (Berman & Greengard, J. Math. Phys. 35, 6036 (1994);
// Challacombe, White & Head-Gordon, J. Chem. Phys. 107, 10131 (1997)). Images within tail_factor cells add
// one by one; the others by the function that they make in the neighbourhood (lattice_tail.h), whose
// harmonics are integrals over a sphere.
//
// Lengths are counted in widths of a cell, `ImageGrid::width`. M_l^m = Σ q R_l^m(v), φ = Σ conj(R_l^m(u))
// Λ_l^m, with the functions of expansions/operators.h and |m| ≤ l.
#pragma once

#include "sums/lattice/images/image_grid.h"
#include "sums/lattice/images/lattice_tail.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace farfield {
namespace comm {
class Transport;
}

/// Numbers (l, m), |m| ≤ l, at l² + l + m.
struct ComplexExpansion {
    std::vector<double> real, imag;

    ComplexExpansion() = default;
    explicit ComplexExpansion(int degree)
        : real(static_cast<std::size_t>(degree + 1) * static_cast<std::size_t>(degree + 1)),
          imag(real.size()) {}
    static std::size_t place(int l, int m) { return static_cast<std::size_t>(std::int64_t{l} * l + l + m); }
    /// Orders m < 0 from those m > 0: (−1)^m conj.
    void mirror(int degree);
};

class ImageOperator {
public:
    /// @param ranks  that make it together; null: this process alone
    ImageOperator(const ImageGrid& grid, int order, int threads, comm::Transport* ranks = nullptr);

    [[nodiscard]] const ImageGrid& grid() const { return grid_; }
    [[nodiscard]] int order() const { return order_; }
    /// Adds to the local expansion of a cell, orders m ≥ 0, what the images of a cell send.
    void add(int target, int source, const ComplexExpansion& multipole, ComplexExpansion& local) const;
    /// Multiply-adds of that.
    [[nodiscard]] double work() const;
    /// The sums S_l^m of that, up to twice the order; those of one kind of pairs are one object.
    [[nodiscard]] const ComplexExpansion& sums(int target, int source) const {
        return sums_.at(key(target, source));
    }

private:
    /// Which images of a source's cell are near follows from its distance to the rim.
    [[nodiscard]] std::uint64_t key(int target, int source) const;
    /// Irregular harmonics of an image so many cells away.
    struct FarImage {
        int degree = 0;
        ComplexExpansion harmonics;
    };
    [[nodiscard]] FarImage far_image(const Whole& offset) const;
    /// Of images that are far from all cells, for cells these offsets apart.
    void make_outer_sums(std::map<Whole, ComplexExpansion>& outer, int threads, comm::Transport* ranks) const;
    /// The same for one offset, in cells: ≥ 0.
    [[nodiscard]] ComplexExpansion sums_of_outer(const Whole& offset) const;
    void add_tail(const LatticeTail& tail, ComplexExpansion& sums) const;
    /// From those of an offset's nearest image to those of the offset, in cells.
    void add_periods(const Whole& nearest, const Whole& apart, ComplexExpansion& sums) const;
    [[nodiscard]] Lengths place_of(const Whole& offset) const;

    ImageGrid grid_;
    int order_;
    Lengths period_{}; ///< in widths of a cell
    double reach_;     ///< of differences of points in two cells
    std::map<std::uint64_t, ComplexExpansion> sums_;
};

/// Made once for a grid and an order; the last few are kept. Ranks, which all ask for the same, make it
/// together unless all have it.
std::shared_ptr<const ImageOperator> image_operator(const ImageGrid& grid, int order, int threads,
                                                    comm::Transport* ranks = nullptr);

/// Multiply-adds for a pair of cells, and numbers that a kind of pairs keeps.
double image_work_of_a_pair(int order);
double image_numbers_of_a_pair(int order);

} // namespace farfield
