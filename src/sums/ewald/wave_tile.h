// What crosses into the loops over waves, compiled once for each instruction set.
#pragma once

#include <cstdint>

namespace farfield {

/// Points of a block, side by side.
inline constexpr std::int64_t wave_points = 128;

/// Waves with one n_y and n_z, and n_x = 0 … last_x.
struct WaveRow {
    std::int32_t y = 0, z = 0, last_x = 0;
    std::int64_t first = 0; ///< its place among all waves
};

/// Phases of a block of points: e^(2πi n x/L) for n = 0 … of each axis, real and imaginary parts of
/// `wave_points` points by turns.
struct WaveTile {
    const double* phases[3] = {};
    const WaveRow* rows = nullptr;
    std::int64_t row_count = 0;
    /// Of sources: their strengths, and where Σ q e^(−ik·y) of each wave is *added*, real and imaginary parts
    /// by turns.
    const double* strengths = nullptr;
    double* structure = nullptr;
    /// Of targets: coefficients C of the waves, those with k_x C in the other array, and where
    /// φ = Re Σ C e^(ik·x) and −∇φ of each point are *written*; a field that is null is left out.
    const double* coefficients = nullptr;
    const double* x_coefficients = nullptr;
    double unit_y = 0.0, unit_z = 0.0; ///< 2π/L of those axes
    double* potential = nullptr;
    double* field[3] = {};
};

} // namespace farfield

/// One for each instruction set (cmake/farfield_isa.cmake).
#define FF_DECLARE_WAVES(isa) extern "C" void ff_waves_##isa(bool at_targets, const farfield::WaveTile* tile)
FF_DECLARE_WAVES(scalar);
FF_DECLARE_WAVES(sse42);
FF_DECLARE_WAVES(avx2);
FF_DECLARE_WAVES(avx512);
#undef FF_DECLARE_WAVES
