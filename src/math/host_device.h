// FF_HD marks a function that a CUDA compiler builds for the device as well; nothing elsewhere.
#pragma once

#if defined(__CUDACC__)
#define FF_HD __host__ __device__
#else
#define FF_HD
#endif
