// Which of a loop's functions, compiled once for each instruction set, runs.
#pragma once

#include <farfield/error.h>
#include <farfield/sum.h>

namespace farfield {

/// The one for `isa`, which is resolved. @throws InternalError for `automatic`.
template <class Function>
Function isa_function(Isa isa, Function scalar, Function sse42, Function avx2, Function avx512) {
    if (isa == Isa::avx512 && avx512 != nullptr) return avx512;
    if (isa == Isa::avx2 && avx2 != nullptr) return avx2;
    if (isa == Isa::sse42 && sse42 != nullptr) return sse42;
    if (isa == Isa::scalar) return scalar;
    throw InternalError("a pair loop for an instruction set that was not resolved");
}

} // namespace farfield

/// The function `entry`_<isa> of tiles.h; none for what the build leaves out (FARFIELD_LOOP_ISAS).
#if !defined(__x86_64__) || defined(FF_WITHOUT_SSE42)
#define FF_SSE42_FUNCTION(entry) nullptr
#else
#define FF_SSE42_FUNCTION(entry) entry##_sse42
#endif
#if !defined(__x86_64__) || defined(FF_WITHOUT_AVX2)
#define FF_AVX2_FUNCTION(entry) nullptr
#else
#define FF_AVX2_FUNCTION(entry) entry##_avx2
#endif
#if !defined(__x86_64__) || defined(FF_WITHOUT_AVX512)
#define FF_AVX512_FUNCTION(entry) nullptr
#else
#define FF_AVX512_FUNCTION(entry) entry##_avx512
#endif
#define FF_ISA_FUNCTION(entry, isa)                                                                          \
    isa_function<decltype(&entry##_scalar)>(isa, entry##_scalar, FF_SSE42_FUNCTION(entry),                   \
                                            FF_AVX2_FUNCTION(entry), FF_AVX512_FUNCTION(entry))
