// What makes programs smaller and faster and keeps every bit of their results. Applied in this order, each
// leaves a program that executes as it is.
#pragma once

#include "stencil/ir/ir.h"

namespace farfield::stencil {

/// Computes what depends on constants alone, and drops operations that return an operand: x·1, x − 0, x/1,
/// −(−x), float → double → float, choices that are made. A division by a power of two becomes a product. What
/// would be NaN stays. Kernels without cells go.
void fold(ir::Program& program);

/// Computes the same value once a kernel, and nothing that no store needs.
void cse(ir::Program& program);

/// Moves what is the same in all cells, but no constant, out of kernels and records into Program::uniforms.
void hoist(ir::Program& program);

/// Joins kernels over the same cells, in the same steps, where each reads of the other's results the same
/// cell alone; what one stores the next takes from where it was computed. A kernel moves up past others that
/// touch nothing it touches.
void fuse(ir::Program& program);

/// Gives constants and uniforms names for generated code, from what the source calls them.
void name(ir::Program& program);

} // namespace farfield::stencil
