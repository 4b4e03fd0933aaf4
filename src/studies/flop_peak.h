// The most floating-point operations a second that this machine's CPU computes: fused multiply-adds on
// registers alone, measured.
#pragma once

namespace farfield {

/// Operations a second of `threads` threads together, a fused multiply-add counted as two, with the best
/// instruction set: the fastest of `repeats` runs of some milliseconds.
double measured_flop_peak(bool is_double, int threads, int repeats);

} // namespace farfield
