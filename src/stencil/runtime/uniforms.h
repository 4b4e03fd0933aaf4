// Values that are the same in all cells, computed on the host before each step.
#pragma once

#include "stencil/ir/ir.h"
#include "stencil/ir/row_evaluator.h"

#include <cstdint>
#include <span>
#include <vector>

namespace farfield::stencil {

class Uniforms {
public:
    explicit Uniforms(const ir::Program& program); ///< kept by reference
    Uniforms(const Uniforms&) = delete;
    Uniforms& operator=(const Uniforms&) = delete;

    /// One float64 for each of Program::uniforms in a step; valid until the next call.
    std::span<const double> at(std::int64_t step);

private:
    const ir::Program* program_;
    std::vector<ir::RowEvaluator> evaluators_;
    std::vector<double> values_;
};

} // namespace farfield::stencil
