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
