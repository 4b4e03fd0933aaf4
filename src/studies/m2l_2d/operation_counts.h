// How many operations a translation takes, counted by running the formulas of a variant on the host with
// numbers that count.
#pragma once

#include "studies/m2l_2d/translations.h"

namespace farfield::m2l2d {

/// Of one translation: for a whole list of 27, over 27.
struct OperationCount {
    double flop = 0;         ///< additions, multiplications and divisions as written
    double instructions = 0; ///< with each product that is added fused into the addition
};

/// On tensor cores: `flop` of the matrices as written, `instructions` 0.
OperationCount operations_of(Variant variant, bool is_fused, int terms);

/// Bytes that go through the GPU's memory at least: expansions read once, and written.
double memory_bytes(bool is_fused, int terms);
/// Bytes of shared memory that a thread writes or reads on its own; 0 where it shares all of them.
double shared_bytes(Variant variant, int terms);

} // namespace farfield::m2l2d
