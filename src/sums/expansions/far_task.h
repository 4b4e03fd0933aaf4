// What crosses the border to the loop of multipole expansions in powers of x, y and z at points (M2P),
// compiled once for each instruction set. Numbers are float or double, as `wide` says.
#pragma once

#include <cstdint>

namespace farfield {

/// Adds what `cells` expansions do at `targets` points.
struct FarTask {
    bool wide = true;
    int order = 0;
    bool potential = true; ///< wanted, beside the field
    std::int64_t cells = 0;
    const void* places = nullptr; ///< of each cell: x, y, z of its centre, and its unit of length
    /// Of each cell (cartesian.h). With order 0 those of order 1, of which the first serves.
    const void* const* numbers = nullptr;
    std::int64_t targets = 0;
    const void* x[3] = {nullptr, nullptr,
                        nullptr}; ///< of targets, padded to far_lanes, apart from all centres
    double softening2 = 0.0;
    double* potential_sums = nullptr; ///< of each target; null without potential
    double* field_sums[3] = {nullptr, nullptr, nullptr};
};

/// Targets are padded to a multiple of this.
constexpr std::int64_t far_lanes = 32;

using FarFunction = void (*)(const FarTask*);

extern "C" {
void ff_far_scalar(const FarTask*);
void ff_far_sse42(const FarTask*);
void ff_far_avx2(const FarTask*);
void ff_far_avx512(const FarTask*);
}

} // namespace farfield
