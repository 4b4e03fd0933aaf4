// Points as the pair loops want them: structure of arrays, in the type of the sum, in a frame where neither
// offset nor scale can lose digits or leave the range of a float.
#pragma once

#include "base/aligned.h"
#include "sums/points/tile_points.h"

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace farfield {

/// x' = (x − origin)·2^exponent. The origin is moved only along axes where the points lie far off, compared
/// with their extent, where the subtraction is exact; elsewhere rounding x itself is what
/// `Precision::float32` promises. A power of two changes no digit.
struct Frame {
    double origin[3] = {0.0, 0.0, 0.0};
    int exponent = 0;
};

/// The smallest and largest coordinate along an axis; the default is the range of no points.
struct Extent {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
};

/// Widens the ranges along x, y and z to hold these points (N×3).
void extend(std::array<Extent, 3>& ranges, std::span<const double> points, int threads = 1);

/// Of a cube around the ranges; not 0.
double longest_side(const std::array<Extent, 3>& ranges);

/// The frame for points in these ranges along x, y and z, at least one point.
Frame choose_frame(const std::array<Extent, 3>& ranges, double softening);

/// The frame for these points (N×3 and M×3): coordinates and softening come to lie within ±2^10, so that r⁻³
/// of near and far pairs fits a float.
Frame choose_frame(std::span<const double> sources, std::span<const double> targets, double softening,
                   int threads = 1);

/// N×3, moved into the frame.
RawVector<double> in_frame(const Frame& frame, RawVector<double> points, int threads);

/// Of numbers; 0 of none.
double largest_magnitude(std::span<const double> values, int threads);

/// The exponent e for which max |q|·2^e lies in [0.5, 1); 0 where all are zero.
int strength_exponent(std::span<const double> strengths);

/// The same for charges beside dipoles N×3, which count by what they are in lengths times 2^`lengths`.
int strength_exponent(std::span<const double> strengths, std::span<const double> dipoles, int lengths,
                      int threads = 1);

/// The same for strengths of at most `largest` in magnitude, and for dipoles of at most `longest`.
int strength_exponent(double largest);
int strength_exponent(double largest, double longest, int lengths);

/// Coordinates of one set of points and, for sources, strengths.
template <class T>
class PreparedPoints {
public:
    /// `with_low`: also keep what rounding to T took off each coordinate.
    void set(std::span<const double> points, const Frame& frame, bool with_low);
    /// Points that lie in the frame already.
    void set(const std::array<RawVector<double>, 3>& x, bool with_low, int threads);
    /// q·2^exponent, zero in the padding.
    void set_strengths(std::span<const double> strengths, int exponent, int threads = 1);

    /// Of complex strengths the imaginary parts, as the real ones; none where `strengths` is empty.
    void set_imaginary_strengths(std::span<const double> strengths, int exponent, int threads = 1);

    /// p·2^exponent, N×3, zero in the padding; none where `dipoles` is empty.
    void set_dipoles(std::span<const double> dipoles, int exponent);

    [[nodiscard]] TilePoints view() const;
    [[nodiscard]] std::int64_t count() const { return count_; }
    /// Coordinates and strengths that the loops really see, N×3 and N.
    [[nodiscard]] std::vector<double> seen_points() const;
    [[nodiscard]] std::vector<double> seen_strengths() const;
    /// N×3, or empty.
    [[nodiscard]] std::vector<double> seen_dipoles() const;

private:
    void set_count(std::size_t n, bool with_low);
    void pad();
    static void scale(std::span<const double> strengths, int exponent, int threads, RawVector<T>& out);

    std::int64_t count_ = 0;
    RawVector<T> high_[3];
    RawVector<T> low_[3];
    RawVector<T> strength_, strength_imaginary_;
    AlignedVector<T> dipole_[3];
};

extern template class PreparedPoints<float>;
extern template class PreparedPoints<double>;

} // namespace farfield
