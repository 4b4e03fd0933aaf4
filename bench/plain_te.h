/* The loop that the stencil language is measured against: 2D light (TE) in double with the time-integrated
 * energy, electric and magnetic sweep fused, OpenMP. It uses nothing of Farfield. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of `pitch` numbers. In step s:
     Ex += courant (Hz - Hz[y-1]),  Ey += courant (Hz[x-1] - Hz)    in cells 1 to n-1 along x and y
     Hz += courant (Ex[y+1] - Ex + Ey - Ey[x+1])                    in cells 0 to n-2
     Hz at (source_x, source_y) += waves[s];  energy += Hz^2
   With `first` and `last`, an entry a row, only cells first[y] to last[y]-1 of these are updated; with
   `electric_everywhere`, E still is in all cells. */
struct FfPlainTe {
    long n, pitch, steps;
    double *ex, *ey, *hz, *energy;
    double courant;
    long source_x, source_y;
    const double* waves;
    const long *first, *last; /* or null */
    int electric_everywhere;
    int threads;
};

void ff_plain_te_scalar(const struct FfPlainTe* task);
void ff_plain_te_avx2(const struct FfPlainTe* task);
void ff_plain_te_avx512(const struct FfPlainTe* task);

#ifdef __cplusplus
}
#endif
