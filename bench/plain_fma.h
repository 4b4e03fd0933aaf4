/* Fused multiply-adds on registers alone: the most that a core computes in a type. It uses nothing of
 * Farfield. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* `rounds` rounds in float or, with `is_double`, in double. Returns how many operations they were, a fused
   multiply-add counted as two. */
double ff_plain_fma_scalar(long rounds, int is_double);
double ff_plain_fma_avx2(long rounds, int is_double);
double ff_plain_fma_avx512(long rounds, int is_double);

#ifdef __cplusplus
}
#endif
