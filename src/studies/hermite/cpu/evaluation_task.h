// What crosses into the loop of powers.h, compiled once for each instruction set: raw pointers.
#pragma once

#include <cstdint>

namespace farfield::hermite {

/// Potentials of targets [begin, end).
struct EvaluationTask {
    int terms = 0; ///< 5, 9 or 12; of others nothing is stored
    int clusters = 0;
    double sigma = 0;
    const float* centres = nullptr; ///< clusters × 2
    const float* powers = nullptr;  ///< clusters × powers_of(terms)
    const float* x = nullptr;
    const float* y = nullptr;
    std::int64_t begin = 0, end = 0;
    float* potentials = nullptr;
};

} // namespace farfield::hermite

/// One for each instruction set (cmake/farfield_isa.cmake).
#define FF_DECLARE_HERMITE(isa)                                                                              \
    extern "C" void ff_hermite_evaluation_##isa(const farfield::hermite::EvaluationTask* task)
FF_DECLARE_HERMITE(scalar);
#if defined(__x86_64__)
FF_DECLARE_HERMITE(sse42);
FF_DECLARE_HERMITE(avx2);
FF_DECLARE_HERMITE(avx512);
#endif
#undef FF_DECLARE_HERMITE
