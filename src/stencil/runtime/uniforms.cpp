// Uniforms of a step.
#include "stencil/runtime/uniforms.h"

namespace farfield::stencil {

Uniforms::Uniforms(const ir::Program& program) : program_(&program), values_(program.uniforms.size()) {
    evaluators_.reserve(program.uniforms.size());
    for (const auto& code : program.uniforms) evaluators_.emplace_back(ir::Shape{1, 1, 1}, code);
}

std::span<const double> Uniforms::at(std::int64_t step) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
        evaluators_[i].compute(0, 0, 1, static_cast<double>(step) * program_->dt, step);
        values_[i] = evaluators_[i].real64(program_->uniforms[i].result)[0];
    }
    return values_;
}

} // namespace farfield::stencil
