// Field and its time derivative, the jerk, for integrators of Hermite type.
#pragma once

#include <farfield/sum_options.h>

#include <cstdint>
#include <functional>

namespace farfield {
namespace comm {
class Transport;
}

/// Bodies that act on each other. Arrays are contiguous; vectors are N×3, row-major.
struct JerkTask {
    Kernel kernel = Kernel::gravity;
    std::int64_t n = 0;
    const double* points = nullptr;
    const double* velocities = nullptr;
    const double* strengths = nullptr;
    double softening = 0.0;
    int threads = 0; ///< 0: as many as OpenMP would use
    Isa isa = Isa::automatic;
    double* field = nullptr;          ///< N×3, −∇φ
    double* jerk = nullptr;           ///< N×3, d(field)/dt along the motion of all bodies
    double* potential = nullptr;      ///< N, or null
    comm::Transport* ranks = nullptr; ///< that share the work: all give the same task and get all results
    /// Asked now and then; true: give up, with `Interrupted`.
    std::function<bool()> stop_requested{};
};

} // namespace farfield
