// What the kernels of all variants see, and what launches them.
#pragma once

#include "backend/cuda/check.h"
#include "studies/m2l_2d/tensor_operands.h"
#include "studies/m2l_2d/translations.h"

#include <cuda_runtime_api.h>

namespace farfield::m2l2d {

using Value = Complex<float>;

struct DeviceProblem {
    int depth;
    const Value* multipoles; ///< of the variant's form; the paper's box by box, ours in groups
    Value* written;          ///< the paper's [box][slot][n]; ours in groups, [slot][n] being the number
    Value* locals;           ///< as multipoles
    /// Ours: t^k of [quarter][slot][k], −ln d of [quarter][slot]; d is the slot's offset.
    const Value* powers;
    const Value* logs;
    const TensorOperand* operands;
};

/// A kernel as CUDA's runtime knows it, and how it is launched.
struct Launch {
    const void* function = nullptr;
    dim3 blocks, threads;
    int shared_bytes = 0;
};
/// For 8, 12 or 16 terms.
Launch paper_launch(Variant variant, int terms, int depth);
Launch paper_reduction(int terms, int depth);
Launch spread_launch(Variant variant, int terms, int depth);
Launch gather_launch(Variant variant, int terms, int depth);
Launch staged_launch(int terms, int depth);
Launch tensor_launch(int terms, int depth);
Launch groups_reduction(int terms, int depth);

} // namespace farfield::m2l2d
