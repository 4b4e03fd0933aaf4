// The value type of the instruction set that a source is compiled for (FF_ISA_… from
// cmake/farfield_isa.cmake): a SIMD batch, or a plain number for FF_ISA_SCALAR.
#pragma once

#include "math/ops.h"

#define FF_JOIN_WITH_ISA(name, isa) name##_##isa
#define FF_JOIN_EXPANDED(name, isa) FF_JOIN_WITH_ISA(name, isa)
#define FF_ISA_ENTRY(name) FF_JOIN_EXPANDED(name, FF_ISA)

#if defined(FF_ISA_SCALAR)
namespace farfield {
template <class T>
using Value = T;
inline constexpr int vector_registers = 16;
} // namespace farfield
#else
#include "backend/simd/batch_ops.h"
namespace farfield {
#if defined(FF_ISA_AVX512)
template <class T>
using Value = xsimd::batch<T, xsimd::avx512bw>;
inline constexpr int vector_registers = 32;
#elif defined(FF_ISA_AVX2)
template <class T>
using Value = xsimd::batch<T, xsimd::fma3<xsimd::avx2>>;
inline constexpr int vector_registers = 16;
#elif defined(FF_ISA_SSE42)
template <class T>
using Value = xsimd::batch<T, xsimd::sse4_2>;
inline constexpr int vector_registers = 16;
#else
#error "compile this source with farfield_isa_sources()"
#endif
} // namespace farfield
#endif
