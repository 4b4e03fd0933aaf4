#include "sums/lattice/images/lattice_tail.h"

#include "sums/lattice/splitting.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace farfield {
namespace {

using std::numbers::pi;

using Real = long double;
constexpr double vanishes = 6.3; ///< erfc(x) < 1e-18

Lengths sum_of(const Lengths& a, const Lengths& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }

/// erf(αr)/r
double smooth(double alpha, double r) {
    const double x = alpha * r;
    return x < 1e-8 ? 2.0 * alpha / std::sqrt(pi) : std::erf(x) / r;
}

/// Calls visit(n) for the images within `ranges`.
template <class Visit>
void each_image(const std::array<ImageGrid::Range, 3>& ranges, const Visit& visit) {
    for (int z = ranges[2].first; z <= ranges[2].last; ++z)
        for (int y = ranges[1].first; y <= ranges[1].last; ++y)
            for (int x = ranges[0].first; x <= ranges[0].last; ++x) visit(Whole{x, y, z});
}

/// B_2j(1/2)/(2j)! of Euler's and Maclaurin's formula for midpoints.
constexpr int midpoint_terms = 14;
std::array<Real, midpoint_terms + 1> midpoint_factors() {
    // Σ c_j t^2j = (t/2)/sinh(t/2)
    std::array<Real, midpoint_terms + 1> sinh{}, c{};
    Real term = 1.0L;
    for (int j = 0; j <= midpoint_terms; ++j) {
        sinh[static_cast<std::size_t>(j)] = term;
        term /= 4.0L * (2 * j + 2) * (2 * j + 3);
    }
    for (std::size_t j = 0; j < c.size(); ++j) {
        c[j] = j == 0 ? 1.0L : 0.0L;
        for (std::size_t i = 1; i <= j; ++i) c[j] -= sinh[i] * c[j - i];
    }
    return c;
}

/// Σ_{n ≥ 0} f(u + (n + ½)L), f(u) = 1/√(u² + square), less its ln 2NL/L: by −Σ c_j L^(2j−1) f^(2j−1)(u),
/// and the derivatives f^(k) = (−1)^k k! P_k(u/r)/r^(k+1).
Real line_end(Real u, Real square, Real length) {
    static const auto factors = midpoint_factors();
    const Real r = std::sqrt(u * u + square), t = u / r;
    Real sum = -std::log(u + r) / length;
    Real before = 1.0L, now = t;   // P_0, P_1
    Real scale = length / (r * r); // k! L^k/r^(k+1)
    for (int k = 1; k <= 2 * midpoint_terms - 1; ++k) {
        if ((k & 1) != 0) sum += factors[static_cast<std::size_t>((k + 1) / 2)] * scale * now;
        const Real next = ((2 * k + 1) * t * now - k * before) / (k + 1);
        before = now;
        now = next;
        scale *= (k + 1) * length / r;
    }
    return sum;
}

} // namespace

LatticeTail::LatticeTail(const Lengths& period, const Lengths& centre, double reach,
                         const std::array<ImageGrid::Range, 3>& always, double softening)
    : period_(period), centre_(centre), softening_(softening) {
    for (std::size_t k = 0; k < 3; ++k) {
        if (period[k] == 0.0) continue;
        ++axes_;
        measure_ *= period[k];
    }
    for (std::size_t k = 0; k < 3; ++k)
        if ((period[k] == 0.0) == (axes_ == 2)) odd_axis_ = k;
    if (axes_ == 1) {
        constexpr int least = 6; // for Euler and Maclaurin
        const double length = period[odd_axis_], at = centre[odd_axis_];
        line_.first = static_cast<int>(std::floor((at - tail_factor * reach) / length)) - least;
        line_.last = static_cast<int>(std::ceil((at + tail_factor * reach) / length)) + least;
        line_.first = std::min(line_.first, always[odd_axis_].first);
        line_.last = std::max(line_.last, always[odd_axis_].last);
        for (int n = line_.first; n <= line_.last; ++n) {
            LatticeImage image{.n = {}, .at = centre};
            image.n[odd_axis_] = n;
            image.at[odd_axis_] -= n * length;
            left_out_.push_back(image);
        }
        return;
    }
    alpha_ = 2.0 / (axes_ == 3 ? std::cbrt(measure_) : std::sqrt(measure_));
    find_images(reach, vanishes / alpha_ + reach, always);
    find_waves(2.0 * alpha_ * vanishes);
}

void LatticeTail::find_images(double reach, double cutoff, const std::array<ImageGrid::Range, 3>& always) {
    const double inner = tail_factor * reach, outer = std::max(cutoff, inner);
    std::array<ImageGrid::Range, 3> ranges{};
    for (std::size_t k = 0; k < 3; ++k) {
        if (period_[k] == 0.0) continue;
        ranges[k] = {static_cast<int>(std::floor((centre_[k] - outer) / period_[k])),
                     static_cast<int>(std::ceil((centre_[k] + outer) / period_[k]))};
        ranges[k].first = std::min(ranges[k].first, always[k].first);
        ranges[k].last = std::max(ranges[k].last, always[k].last);
    }
    each_image(ranges, [&](const Whole& n) {
        LatticeImage image{.n = n, .at = centre_};
        bool is_always = true;
        for (std::size_t k = 0; k < 3; ++k) {
            image.at[k] -= n[k] * period_[k];
            is_always = is_always && n[k] >= always[k].first && n[k] <= always[k].last;
        }
        const double r = length_of(image.at);
        if (is_always || r < inner)
            left_out_.push_back(image);
        else if (r < outer)
            others_.push_back(image);
    });
}

// k and −k count once.
void LatticeTail::find_waves(double cutoff) {
    std::array<ImageGrid::Range, 3> ranges{};
    for (std::size_t k = 0; k < 3; ++k) {
        if (period_[k] == 0.0) continue;
        const int last = static_cast<int>(cutoff * period_[k] / (2.0 * pi));
        ranges[k] = {-last, last};
    }
    each_image(ranges, [&](const Whole& n) {
        const bool is_half = n[2] > 0 || (n[2] == 0 && (n[1] > 0 || (n[1] == 0 && n[0] > 0)));
        if (!is_half) return;
        Wave wave;
        for (std::size_t k = 0; k < 3; ++k)
            if (period_[k] > 0.0) wave.k[k] = 2.0 * pi * n[k] / period_[k];
        wave.length = length_of(wave.k);
        if (wave.length > cutoff) return;
        const double k2 = wave.length * wave.length;
        if (axes_ == 2)
            wave.factor = 2.0 * pi / (measure_ * wave.length);
        else if (softening_ > 0.0)
            wave.factor = 2.0 / measure_ * Splitting{alpha_, softening_}.wave_factor(wave.length);
        else
            wave.factor = 8.0 * pi / (measure_ * k2) * std::exp(-k2 / (4.0 * alpha_ * alpha_));
        waves_.push_back(wave);
    });
}

// Images left out lack their smooth part, which waves have.
Real LatticeTail::near_part(const Lengths& d) const {
    Real sum = 0.0L;
    if (softening_ > 0.0) { // sums are small beside their terms if ε is large
        const auto distance = [&](const LatticeImage& image) {
            const auto x = sum_of(image.at, d);
            return std::hypot(std::hypot(Real(x[0]), Real(x[1])), std::hypot(Real(x[2]), Real(softening_)));
        };
        for (const auto& image : others_) sum += std::erfc(alpha_ * distance(image)) / distance(image);
        for (const auto& image : left_out_) sum -= std::erf(alpha_ * distance(image)) / distance(image);
        return sum;
    }
    for (const auto& image : others_) {
        const double r = length_of(sum_of(image.at, d));
        sum += std::erfc(alpha_ * r) / r;
    }
    for (const auto& image : left_out_) sum -= smooth(alpha_, length_of(sum_of(image.at, d)));
    return sum;
}

Real LatticeTail::in_space(const Lengths& x, const Lengths& d) const {
    Real sum = near_part(d);
    if (softening_ > 0.0)
        sum -= Splitting{alpha_, softening_}.near_integral() / measure_;
    else
        sum -= pi / (measure_ * alpha_ * alpha_) +
               2.0 * pi / (3.0 * measure_) * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    for (const auto& wave : waves_)
        sum += wave.factor * std::cos(wave.k[0] * x[0] + wave.k[1] * x[1] + wave.k[2] * x[2]);
    return sum;
}

Real LatticeTail::in_slab(const Lengths& x, const Lengths& d) const {
    const double z = softening_ == 0.0 ? x[odd_axis_] : std::hypot(x[odd_axis_], softening_);
    Real sum = near_part(d) -
               2.0 * std::sqrt(pi) / measure_ *
                   (std::exp(-alpha_ * alpha_ * z * z) / alpha_ + std::sqrt(pi) * z * std::erf(alpha_ * z));
    for (const auto& wave : waves_) {
        // e^(kz) erfc(k/2α + αz), in long double, whose range holds both factors
        const Real k = wave.length, half = k / (2 * alpha_);
        const auto side = [&](Real at) {
            const Real far = half + alpha_ * at;
            return far > 80 ? 0.0L : std::exp(k * at) * std::erfc(far);
        };
        sum += wave.factor * std::cos(wave.k[0] * x[0] + wave.k[1] * x[1] + wave.k[2] * x[2]) *
               (side(z) + side(-z));
    }
    return sum;
}

Real LatticeTail::along_line(const Lengths& x) const {
    Real square = Real(softening_) * softening_;
    for (std::size_t k = 0; k < 3; ++k)
        if (k != odd_axis_) square += Real(x[k]) * x[k];
    const Real length = period_[odd_axis_], at = x[odd_axis_];
    // images n > last lie at n·L − at behind the point, those before first at at − n·L
    return line_end((line_.last + 0.5L) * length - at, square, length) +
           line_end(at - (line_.first - 0.5L) * length, square, length);
}

Real LatticeTail::value(const Lengths& d) const {
    const auto x = sum_of(centre_, d);
    return axes_ == 3 ? in_space(x, d) : axes_ == 2 ? in_slab(x, d) : along_line(x);
}

} // namespace farfield
