// What sums over a periodic box on a GPU have beside points and expansions: moments of all charges, the
// functions that tin foil, a background and vacuum bring, and results on their way out.
#pragma once

#include "backend/cuda/memory.h"
#include "backend/cuda/vec4.h"

#include <farfield/sum_options.h>

#include <array>
#include <cstdint>
#include <vector>

namespace farfield::cuda {

/// Moments about a point of the box, in the frame.
struct BoxMoments {
    double total = 0.0, magnitude = 0.0; ///< Σ q, Σ |q|
    double dipole[3] = {}, square = 0.0; ///< Σ q y, Σ q y² of points in the box, from its middle
    double given[3] = {};                ///< Σ q y of points as they were given, from the first of them
    double given_square = 0.0;           ///< Σ q y² of these
};

/// N×3 points on the GPU.
struct BoxPoints {
    const double* in_box; ///< in the frame
    const double* given;
    std::int64_t n;
};

/// Of what strengths N and points are. Sums are compensated (Neumaier 1974), in an order that N alone
/// decides. Waits for them. @param unit  the frame's lengths are those of points as given times that
class BoxMomentSums {
public:
    BoxMoments compute(const BoxPoints& sources, const double* strengths, const std::array<double, 3>& middle,
                       double unit, cudaStream_t stream);

private:
    DeviceArray<double> partial_;
    std::vector<double> host_;
};

/// Results of the parts of a sum, in the kernel's sign; null where not wanted, or where there is no part.
struct PartResults {
    const double* potential = nullptr;
    const double* field = nullptr;
};

struct BoxResults {
    std::int64_t m = 0;
    PartResults home, rim;
    const Vec4<double>* far = nullptr; ///< of charges, or null
    double* potential = nullptr;
    double* field = nullptr;
    double sign = 1.0; ///< of the kernel, beside that of charges
    double unit = 1.0; ///< of the frame
    bool quadratic = false, vacuum = false;
    double volume = 1.0;
    double middle[3] = {};
    BoxMoments moments;
    const double* origin = nullptr; ///< of moments of points as given
};

/// Adds the parts, with (2π/3V) Σ q |x − y|² along three axes, of tin foil and with the background's charge,
/// and, in vacuum, with −(2π/3V) Σ q |x − y|² of points as they were given; in the caller's units.
void finish(const BoxResults& results, const BoxPoints& targets, cudaStream_t stream);

/// The images in a box of N×3 points, in its frame. @param length  0 along open axes @param low  where the
/// box begins along the others, from −length to 0
void wrap_points(const double* given, std::int64_t n, const std::array<double, 3>& length, double low,
                 int exponent, double* in_box, cudaStream_t stream);

} // namespace farfield::cuda
