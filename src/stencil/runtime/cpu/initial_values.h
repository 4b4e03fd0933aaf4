// The values of all buffers before the first step.
#pragma once

#include "stencil/ir/ir.h"

#include <functional>
#include <span>

namespace farfield::stencil::cpu {

/// Calls take(buffer, values) for each buffer in order: float64, x fastest without gaps, of arrays those
/// along their axis. Values of buffers in single precision are rounded already.
void initial_values(const ir::Program& program, int threads,
                    const std::function<void(int buffer, std::span<const double> values)>& take);

} // namespace farfield::stencil::cpu
