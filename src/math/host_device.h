// FF_HD marks a function that a CUDA compiler builds for the device as well; nothing elsewhere.
#pragma once

#if defined(__CUDACC__)
#define FF_HD __host__ __device__
#else
#define FF_HD
#endif

// What device code is told of the loop that follows; hosts' compilers decide for themselves.
#if defined(__CUDA_ARCH__)
#define FF_UNROLLED _Pragma("unroll")
#define FF_ROLLED _Pragma("unroll 1")
#else
#define FF_UNROLLED
#define FF_ROLLED
#endif

// What hosts' compilers are told of the loop that follows, if it has at most 8, or 16, rounds; those of
// device code know it by themselves.
#if defined(__CUDACC__)
#define FF_UNROLL_8
#define FF_UNROLL_16
#else
#define FF_UNROLL_8 _Pragma("GCC unroll 8")
#define FF_UNROLL_16 _Pragma("GCC unroll 16")
#endif
