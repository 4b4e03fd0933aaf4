// The loops that Farfield is measured against, as a good programmer writes them in an afternoon: one register
// of targets, sources broadcast one by one, an estimate of 1/r and Newton's method. The compiler may unroll.
#include "plain_avx512.h"

#include <immintrin.h>

namespace {

__m512 newton(__m512 r2, __m512 y) { // y (3 − r² y²)/2, the half taken into the masses
    const __m512 t = _mm512_fnmadd_ps(_mm512_mul_ps(r2, y), y, _mm512_set1_ps(3.0F));
    return _mm512_mul_ps(y, t);
}

__m512d newton(__m512d half_r2, __m512d y) { // y (3/2 − r²/2 y²)
    const __m512d t = _mm512_fnmadd_pd(_mm512_mul_pd(half_r2, y), y, _mm512_set1_pd(1.5));
    return _mm512_mul_pd(y, t);
}

struct FloatSums {
    __m512 x, y, z;
};
struct DoubleSums {
    __m512d x, y, z;
};

inline void add(__m512 dx, __m512 dy, __m512 dz, __m512 softening2, __m512 mass, FloatSums& sums) {
    const __m512 r2 = _mm512_fmadd_ps(dx, dx, _mm512_fmadd_ps(dy, dy, _mm512_fmadd_ps(dz, dz, softening2)));
    const __m512 y = newton(r2, _mm512_maskz_rsqrt14_ps(0xffff, r2));
    const __m512 w = _mm512_mul_ps(_mm512_mul_ps(mass, y), _mm512_mul_ps(y, y));
    sums.x = _mm512_fmadd_ps(w, dx, sums.x);
    sums.y = _mm512_fmadd_ps(w, dy, sums.y);
    sums.z = _mm512_fmadd_ps(w, dz, sums.z);
}

inline void add(__m512d dx, __m512d dy, __m512d dz, __m512d softening2, __m512d mass, DoubleSums& sums) {
    const __m512d r2 = _mm512_fmadd_pd(dx, dx, _mm512_fmadd_pd(dy, dy, _mm512_fmadd_pd(dz, dz, softening2)));
    const __m512d half = _mm512_mul_pd(r2, _mm512_set1_pd(0.5));
    const __m512d y = newton(half, newton(half, _mm512_maskz_rsqrt14_pd(0xff, r2)));
    const __m512d w = _mm512_mul_pd(_mm512_mul_pd(mass, y), _mm512_mul_pd(y, y));
    sums.x = _mm512_fmadd_pd(w, dx, sums.x);
    sums.y = _mm512_fmadd_pd(w, dy, sums.y);
    sums.z = _mm512_fmadd_pd(w, dz, sums.z);
}

void float_loop(const FfPlainTask& task) {
    const auto *x = static_cast<const float*>(task.x), *y = static_cast<const float*>(task.y),
               *z = static_cast<const float*>(task.z), *mass = static_cast<const float*>(task.mass);
    const __m512 softening2 = _mm512_set1_ps(static_cast<float>(task.softening2));
    const __m512 eighth = _mm512_set1_ps(0.125F);
    for (long i = task.begin; i < task.end; i += 16) {
        const __m512 xi = _mm512_loadu_ps(x + i), yi = _mm512_loadu_ps(y + i), zi = _mm512_loadu_ps(z + i);
        FloatSums sums{_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps()};
        for (long j = 0; j < task.n; ++j)
            add(_mm512_sub_ps(_mm512_set1_ps(x[j]), xi), _mm512_sub_ps(_mm512_set1_ps(y[j]), yi),
                _mm512_sub_ps(_mm512_set1_ps(z[j]), zi), softening2, _mm512_set1_ps(mass[j]), sums);
        _mm512_storeu_ps(static_cast<float*>(task.field_x) + i, _mm512_mul_ps(eighth, sums.x));
        _mm512_storeu_ps(static_cast<float*>(task.field_y) + i, _mm512_mul_ps(eighth, sums.y));
        _mm512_storeu_ps(static_cast<float*>(task.field_z) + i, _mm512_mul_ps(eighth, sums.z));
    }
}

void double_loop(const FfPlainTask& task) {
    const auto *x = static_cast<const double*>(task.x), *y = static_cast<const double*>(task.y),
               *z = static_cast<const double*>(task.z), *mass = static_cast<const double*>(task.mass);
    const __m512d softening2 = _mm512_set1_pd(task.softening2);
    for (long i = task.begin; i < task.end; i += 8) {
        const __m512d xi = _mm512_loadu_pd(x + i), yi = _mm512_loadu_pd(y + i), zi = _mm512_loadu_pd(z + i);
        DoubleSums sums{_mm512_setzero_pd(), _mm512_setzero_pd(), _mm512_setzero_pd()};
        for (long j = 0; j < task.n; ++j)
            add(_mm512_sub_pd(_mm512_set1_pd(x[j]), xi), _mm512_sub_pd(_mm512_set1_pd(y[j]), yi),
                _mm512_sub_pd(_mm512_set1_pd(z[j]), zi), softening2, _mm512_set1_pd(mass[j]), sums);
        _mm512_storeu_pd(static_cast<double*>(task.field_x) + i, sums.x);
        _mm512_storeu_pd(static_cast<double*>(task.field_y) + i, sums.y);
        _mm512_storeu_pd(static_cast<double*>(task.field_z) + i, sums.z);
    }
}

// Differences come from a register that moves by one addition a pair, two chains side by side.
void float_ceiling(const FfPlainTask& task) {
    const __m512 softening2 = _mm512_set1_ps(0.01F);
    __m512 a = _mm512_set1_ps(1.0F), b = _mm512_set1_ps(2.0F);
    const __m512 step = _mm512_set1_ps(1e-6F);
    FloatSums sums{_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps()}, others = sums;
    for (long i = task.begin; i < task.end; i += 16)
        for (long j = 0; j < task.n; j += 2) {
            add(_mm512_sub_ps(a, step), _mm512_sub_ps(a, b), a, softening2, b, sums);
            add(_mm512_sub_ps(b, step), _mm512_sub_ps(b, softening2), b, softening2, a, others);
            a = _mm512_add_ps(a, step);
            b = _mm512_add_ps(b, step);
        }
    volatile float used = _mm512_reduce_add_ps(_mm512_add_ps(sums.x, others.x)) +
                          _mm512_reduce_add_ps(_mm512_add_ps(sums.y, others.y)) +
                          _mm512_reduce_add_ps(_mm512_add_ps(sums.z, others.z));
    static_cast<void>(used);
}

void double_ceiling(const FfPlainTask& task) {
    const __m512d softening2 = _mm512_set1_pd(0.01);
    __m512d a = _mm512_set1_pd(1.0), b = _mm512_set1_pd(2.0);
    const __m512d step = _mm512_set1_pd(1e-6);
    DoubleSums sums{_mm512_setzero_pd(), _mm512_setzero_pd(), _mm512_setzero_pd()}, others = sums;
    for (long i = task.begin; i < task.end; i += 8)
        for (long j = 0; j < task.n; j += 2) {
            add(_mm512_sub_pd(a, step), _mm512_sub_pd(a, b), a, softening2, b, sums);
            add(_mm512_sub_pd(b, step), _mm512_sub_pd(b, softening2), b, softening2, a, others);
            a = _mm512_add_pd(a, step);
            b = _mm512_add_pd(b, step);
        }
    volatile double used = _mm512_reduce_add_pd(_mm512_add_pd(sums.x, others.x)) +
                           _mm512_reduce_add_pd(_mm512_add_pd(sums.y, others.y)) +
                           _mm512_reduce_add_pd(_mm512_add_pd(sums.z, others.z));
    static_cast<void>(used);
}

} // namespace

extern "C" void ff_plain_avx512(FfPlainLoop loop, const FfPlainTask* task) {
    switch (loop) {
    case ff_plain_float:
        return float_loop(*task);
    case ff_plain_double:
        return double_loop(*task);
    case ff_plain_float_ceiling:
        return float_ceiling(*task);
    case ff_plain_double_ceiling:
        return double_ceiling(*task);
    }
}
