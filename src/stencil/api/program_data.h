// What a StencilProgram holds: the text after the front end.
#pragma once

#include "stencil/front_end/front_end.h"

#include <farfield/stencil.h>

#include <filesystem>
#include <string>
#include <vector>

namespace farfield {

struct StencilProgram::Data {
    Data(std::string source_name, std::string source_text,
         const std::vector<stencil::ParameterValue>& replaced);

    std::string source;
    std::vector<stencil::ParameterValue> parameters; ///< those given from outside
    stencil::FrontEnd front;
    std::string name;
    std::filesystem::path folder; ///< where relative names of files start
    std::string warnings;

    const stencil::Model& model() const { return front.model(); }
};

/// Steps that the program asks for. An `end` that is no multiple of dt is passed by the last step.
std::optional<std::int64_t> steps_of(const stencil::Model& model);
/// Steps until t ≥ end, up to rounding.
std::int64_t steps_until(double end, double dt);

/// The program with the values of its parameters written in, and without `steps` and `end`: what decides its
/// results, a statement a line.
std::string deciding_text(const stencil::Model& model);

/// Raises StencilError where there are errors.
void require_good(const lang::Diagnostics& diagnostics);

} // namespace farfield
