// The portable functions over arrays, built once an instruction set into a shared library of its own, so that
// no instantiation is shared with another set. FF_ENTRY names the two exported functions; with FF_ARCH the
// value type is an xsimd batch of that architecture, without it a scalar (which the compiler may vectorise as
// it likes).
#include "parity/portable_cases.h"

#include <cstddef>

#ifdef FF_ARCH
#include "backend/simd/portable_lanes.h"
#endif

namespace {

template <class T>
void loop(int f, const T* x, const T* y, T* out, std::size_t n) {
#ifdef FF_ARCH
    using Batch = xsimd::batch<T, xsimd::FF_ARCH>; // n is a multiple of every batch size
    for (std::size_t i = 0; i < n; i += Batch::size)
        farfield::portable_cases::evaluate(f, Batch::load_unaligned(x + i), Batch::load_unaligned(y + i))
            .store_unaligned(out + i);
#else
    for (std::size_t i = 0; i < n; ++i) out[i] = farfield::portable_cases::evaluate(f, x[i], y[i]);
#endif
}

} // namespace

#define FF_JOIN2(a, b) a##b
#define FF_JOIN(a, b) FF_JOIN2(a, b)

extern "C" __attribute__((visibility("default"))) void
FF_JOIN(FF_ENTRY, _double)(int f, const double* x, const double* y, double* out, std::size_t n) {
    loop(f, x, y, out, n);
}

extern "C" __attribute__((visibility("default"))) void
FF_JOIN(FF_ENTRY, _float)(int f, const float* x, const float* y, float* out, std::size_t n) {
    loop(f, x, y, out, n);
}
