/* Loops written by hand for AVX-512, with which Farfield's direct sum is compared. They use nothing of
 * Farfield. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

enum FfPlainLoop {
    ff_plain_float,  /* gravity: 16 targets a register, broadcast source, rsqrt14 and one Newton step */
    ff_plain_double, /* the same with 8 targets and two Newton steps */
    ff_plain_float_ceiling, /* the arithmetic of ff_plain_float on registers alone: no load, no result of use
                             */
    ff_plain_double_ceiling
};

/* Structure of arrays, float or double by the loop. All n sources act on targets [begin, end), themselves
   included: softening2 must be > 0. begin and end are multiples of 16. The ceilings only look at n, begin,
   end. */
struct FfPlainTask {
    long n, begin, end;
    const void *x, *y, *z, *mass;
    double softening2;
    void *field_x, *field_y, *field_z;
};

void ff_plain_avx512(enum FfPlainLoop loop, const struct FfPlainTask* task);

#ifdef __cplusplus
}
#endif
