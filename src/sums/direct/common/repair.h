// What happens after the fast loops: rows whose result is not finite are looked at again, pair by pair. The
// hot loops therefore test nothing.
#pragma once

#include <farfield/sum.h>

#include <cstdint>
#include <functional>

namespace farfield {

/// Points and strengths as the kernels saw them, in their frame; results as the caller gets them, because a
/// result may fit a double in one of the two scales alone. Vectors are ×3, row-major. Potential and field are
/// sign·Σ q/r and sign·Σ q (x − y)/r³; null where not wanted.
struct RepairTask {
    std::int64_t sources = 0;
    std::int64_t targets = 0;
    const double* source_points = nullptr;
    const double* strengths = nullptr;
    const double* dipoles = nullptr; ///< ×3, in the frame: the caller's times 2^(both exponents); null: none
    const double* target_points = nullptr;
    bool self = false;             ///< targets are the sources: skip i = j
    std::int64_t first_target = 0; ///< the row that messages have for the first target
    double softening = 0.0;
    int frame_exponent = 0;    ///< lengths of the frame are the caller's times 2^this
    int strength_exponent = 0; ///< and so for strengths
    double sign = 1.0;
    Precision precision = Precision::float64; ///< for the message only
    Coincident coincident = Coincident::error;
    int threads = 1;
    std::function<bool()> stop_requested{}; ///< asked now and then by the caller's thread
    double* potential = nullptr;
    double* field = nullptr;
    double* hessian = nullptr; ///< ×6: xx, xy, xz, yy, yz, zz
};

/// Computes each row that is not finite again, in double and over the whole exponent range. Coincident
/// sources are left out with `Coincident::skip`; returns how many directed pairs were.
/// @throws InvalidArgument naming both rows of a coincident pair with `Coincident::error`, or the row of a
/// result that a double cannot hold; Interrupted.
std::int64_t repair_rows(const RepairTask& task);

} // namespace farfield
