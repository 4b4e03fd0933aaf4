#include "sums/points/prepared.h"

#include "backend/threads/parallel.h"
#include "sums/points/axis_origin.h"
#include "sums/points/power_of_two.h"

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

constexpr int extent_exponent = 10;

std::size_t padded(std::size_t n) { return (n + point_padding - 1) / point_padding * point_padding; }

} // namespace

void extend(std::array<Extent, 3>& ranges, std::span<const double> points, int threads) {
    const auto of_part = [&](std::size_t begin, std::size_t end) {
        std::array<Extent, 3> of; // in registers
        for (auto i = begin; i < end; ++i)
            for (std::size_t axis = 0; axis < 3; ++axis) {
                of[axis].low = std::min(of[axis].low, points[3 * i + axis]);
                of[axis].high = std::max(of[axis].high, points[3 * i + axis]);
            }
        return of;
    };
    const auto add = [&](const std::array<Extent, 3>& part) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            ranges[axis].low = std::min(ranges[axis].low, part[axis].low);
            ranges[axis].high = std::max(ranges[axis].high, part[axis].high);
        }
    };
    if (threads == 1) return add(of_part(0, points.size() / 3));
    for (const auto& part : parallel_results(threads, points.size() / 3, of_part)) add(part);
}

double longest_side(const std::array<Extent, 3>& ranges) {
    double side = 0x1p-500;
    for (const auto& range : ranges) side = std::max(side, range.high - range.low);
    return side;
}

Frame choose_frame(const std::array<Extent, 3>& ranges, double softening) {
    Frame frame;
    double extent = softening;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto& range = ranges[axis];
        frame.origin[axis] = axis_origin(range.low, range.high);
        extent = std::max(
            {extent, std::abs(range.low - frame.origin[axis]), std::abs(range.high - frame.origin[axis])});
    }
    int exponent = 0;
    std::frexp(extent, &exponent);
    frame.exponent = extent > 0.0 ? extent_exponent - exponent : 0;
    return frame;
}

Frame choose_frame(std::span<const double> sources, std::span<const double> targets, double softening,
                   int threads) {
    if (sources.empty() && targets.empty()) return {};
    std::array<Extent, 3> ranges;
    for (const auto points : {sources, targets}) extend(ranges, points, threads);
    return choose_frame(ranges, softening);
}

RawVector<double> in_frame(const Frame& frame, RawVector<double> points, int threads) {
    const PowerOfTwo scale(frame.exponent);
    parallel_parts(threads, points.size() / 3, [&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i)
            for (std::size_t axis = 0; axis < 3; ++axis)
                points[3 * i + axis] = scale.product(points[3 * i + axis] - frame.origin[axis]);
    });
    return points;
}

double largest_magnitude(std::span<const double> values, int threads) {
    const auto of_part = [&](std::size_t begin, std::size_t end) {
        double largest = 0.0;
        for (auto i = begin; i < end; ++i) largest = std::max(largest, std::abs(values[i]));
        return largest;
    };
    if (threads == 1) return of_part(0, values.size());
    const auto parts = parallel_results(threads, values.size(), of_part);
    return parts.empty() ? 0.0 : *std::max_element(parts.begin(), parts.end());
}

int strength_exponent(double largest) {
    int exponent = 0;
    std::frexp(largest, &exponent);
    return -exponent;
}

int strength_exponent(std::span<const double> strengths) {
    return strength_exponent(largest_magnitude(strengths, 1));
}

int strength_exponent(std::span<const double> strengths, std::span<const double> dipoles, int lengths,
                      int threads) {
    return strength_exponent(largest_magnitude(strengths, threads), largest_magnitude(dipoles, threads),
                             lengths);
}

int strength_exponent(double largest, double longest, int lengths) {
    if (longest == 0.0) return strength_exponent(largest);
    const int of_dipoles = strength_exponent(longest) - lengths;
    return largest == 0.0 ? of_dipoles : std::min(strength_exponent(largest), of_dipoles);
}

template <class T>
void PreparedPoints<T>::set_count(std::size_t n, bool with_low) {
    count_ = static_cast<std::int64_t>(n);
    for (std::size_t axis = 0; axis < 3; ++axis) {
        high_[axis].resize(padded(n));
        low_[axis].resize(with_low ? padded(n) : 0);
    }
    strength_.clear();
    strength_imaginary_.clear();
}

// Pads are outside of all points and apart from each other: one is never coincident with anything. They are
// written after the points, whose threads are the first to write their memory.
template <class T>
void PreparedPoints<T>::pad() {
    const auto n = static_cast<std::size_t>(count_);
    for (std::size_t axis = 0; axis < 3; ++axis)
        for (std::size_t i = n; i < padded(n); ++i) {
            high_[axis][i] =
                static_cast<T>(std::ldexp(1.0, extent_exponent + 2) + 16.0 * static_cast<double>(i - n));
            if (!low_[axis].empty()) low_[axis][i] = T(0);
        }
}

template <class T>
void PreparedPoints<T>::set(std::span<const double> points, const Frame& frame, bool with_low) {
    const auto n = points.size() / 3;
    const PowerOfTwo scale(frame.exponent);
    if (count_ != static_cast<std::int64_t>(n) || high_[0].empty() || low_[0].empty() == with_low)
        set_count(n, with_low);
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const double origin = frame.origin[axis];
        T* const high = high_[axis].data();
        T* const low = low_[axis].data();
        for (std::size_t i = 0; i < n; ++i) {
            const double x = scale.product(points[3 * i + axis] - origin);
            high[i] = static_cast<T>(x);
            if (with_low) low[i] = static_cast<T>(x - static_cast<double>(high[i]));
        }
    }
    pad();
}

template <class T>
void PreparedPoints<T>::set(const std::array<RawVector<double>, 3>& x, bool with_low, int threads) {
    const auto n = x[0].size();
    if (count_ != static_cast<std::int64_t>(n) || high_[0].empty() || low_[0].empty() == with_low)
        set_count(n, with_low);
    parallel_parts(threads, n, [&](std::size_t begin, std::size_t end) {
        for (std::size_t axis = 0; axis < 3; ++axis)
            for (auto i = begin; i < end; ++i) {
                high_[axis][i] = static_cast<T>(x[axis][i]);
                if (with_low)
                    low_[axis][i] = static_cast<T>(x[axis][i] - static_cast<double>(high_[axis][i]));
            }
    });
    pad();
}

template <class T>
void PreparedPoints<T>::scale(std::span<const double> strengths, int exponent, int threads,
                              RawVector<T>& out) {
    const PowerOfTwo scale(exponent);
    const auto n = strengths.size();
    out.resize(padded(n));
    parallel_parts(threads, n, [&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i) out[i] = static_cast<T>(scale.product(strengths[i]));
    });
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(n), out.end(), T(0));
}

template <class T>
void PreparedPoints<T>::set_strengths(std::span<const double> strengths, int exponent, int threads) {
    scale(strengths, exponent, threads, strength_);
}

template <class T>
void PreparedPoints<T>::set_imaginary_strengths(std::span<const double> strengths, int exponent,
                                                int threads) {
    scale(strengths, exponent, threads, strength_imaginary_);
}

template <class T>
void PreparedPoints<T>::set_dipoles(std::span<const double> dipoles, int exponent) {
    const PowerOfTwo scale(exponent);
    for (std::size_t axis = 0; axis < 3; ++axis) {
        dipole_[axis].assign(dipoles.empty() ? 0 : padded(dipoles.size() / 3), T(0));
        for (std::size_t i = 0; i < dipoles.size() / 3; ++i)
            dipole_[axis][i] = static_cast<T>(scale.product(dipoles[3 * i + axis]));
    }
}

template <class T>
TilePoints PreparedPoints<T>::view() const {
    TilePoints view;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        view.high[axis] = high_[axis].data();
        view.low[axis] = low_[axis].data();
        if (!dipole_[axis].empty()) view.dipole[axis] = dipole_[axis].data();
    }
    view.strength = strength_.data();
    if (!strength_imaginary_.empty()) view.strength_imaginary = strength_imaginary_.data();
    view.count = count_;
    return view;
}

template <class T>
std::vector<double> PreparedPoints<T>::seen_points() const {
    std::vector<double> out(static_cast<std::size_t>(3 * count_));
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = static_cast<double>(high_[i % 3][i / 3]);
        if (!low_[i % 3].empty()) out[i] += static_cast<double>(low_[i % 3][i / 3]);
    }
    return out;
}

template <class T>
std::vector<double> PreparedPoints<T>::seen_strengths() const {
    return {strength_.begin(), strength_.begin() + count_};
}

template <class T>
std::vector<double> PreparedPoints<T>::seen_dipoles() const {
    std::vector<double> out(dipole_[0].empty() ? 0 : static_cast<std::size_t>(3 * count_));
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(dipole_[i % 3][i / 3]);
    return out;
}

template class PreparedPoints<float>;
template class PreparedPoints<double>;

} // namespace farfield
