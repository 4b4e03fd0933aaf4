// Σ 1/|x − n| over all images n of a lattice but those near a point, as a function of x around that point,
// where it is harmonic: what of a lattice's potential is left for functions of low degree.
//
// Sums over an infinite lattice are meant as follows; what does not depend on x has no effect on a neutral
// box.
// - Along three axes: the sum over growing spheres of a neutral box, whose surroundings are empty space (tin
//   foil and a background add a quadratic function, FarImages). It is Ewald's sum with a uniform background,
//   less (2π/3V) x².
// - Along two: the sum over growing circles, less 2πR/A: Parry, Surf. Sci. 49, 433 (1975), has the waves.
// - Along one: the sum over −N … N, less (2/L) ln 2NL, with its ends by Euler's and Maclaurin's formula.
// With a softening ε, 1/√(|x − n|² + ε²): along one axis ε² adds to the square of the distance from the axis,
// along two to that of the height, along three the waves have the softened kernel's transform (splitting.h).
// Along three axes it then is the sum in tin foil with a uniform background, of mean 0.
#pragma once

#include "sums/lattice/images/image_grid.h"

#include <vector>

namespace farfield {

/// An image's place on the lattice, by periods.
struct LatticeImage {
    Whole n{};
    Lengths at{}; ///< centre − n: from the image to the point around which the tail is wanted
};

class LatticeTail {
public:
    /// @param centre  the point, in the box's differences @param reach  how far from it the tail is wanted;
    /// images within tail_factor·reach are left out, and those in `always`
    LatticeTail(const Lengths& period, const Lengths& centre, double reach,
                const std::array<ImageGrid::Range, 3>& always, double softening = 0.0);

    /// The images that the tail leaves out.
    [[nodiscard]] const std::vector<LatticeImage>& left_out() const { return left_out_; }
    /// At centre + d, |d| ≤ reach.
    [[nodiscard]] double at(const Lengths& d) const { return static_cast<double>(value(d)); }
    [[nodiscard]] long double value(const Lengths& d) const;

private:
    struct Wave {
        Lengths k{};
        double length = 0.0, factor = 0.0;
    };
    void find_images(double reach, double cutoff, const std::array<ImageGrid::Range, 3>& always);
    void find_waves(double cutoff);
    [[nodiscard]] long double in_space(const Lengths& x, const Lengths& d) const;
    [[nodiscard]] long double in_slab(const Lengths& x, const Lengths& d) const;
    [[nodiscard]] long double near_part(const Lengths& d) const;
    [[nodiscard]] long double along_line(const Lengths& x) const;

    Lengths period_, centre_;
    double softening_;
    int axes_ = 0;
    std::size_t odd_axis_ = 0; ///< the open one of two periods, the periodic one of one
    double measure_ = 1.0;     ///< volume, area or length of a cell of the lattice
    double alpha_ = 1.0;
    std::vector<LatticeImage> left_out_, others_;
    ImageGrid::Range line_; ///< images left out along one axis
    std::vector<Wave> waves_;
};

/// Where images left out end, over the reach; and the degree at which what they leave is 1e-16 of it.
inline constexpr double tail_factor = 3.5;
inline constexpr int tail_degree = 28;

} // namespace farfield
