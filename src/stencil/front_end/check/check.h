// From a program as written to a model: binds parameters, resolves names, finds types, and reports mistakes.
#pragma once

#include "lang/diagnostics.h"
#include "stencil/front_end/model/model.h"

#include <string>
#include <string_view>
#include <vector>

namespace farfield::stencil {

/// A value for a parameter from outside: `--set radius=150`.
struct ParameterValue {
    std::string name;
    lang::Value value;
};

/// Reads "name=value"; the value is a whole number, a real number, true or false.
/// @throws InvalidArgument for anything else.
ParameterValue parse_parameter(std::string_view text);

/// The model is complete only where no error was reported.
Model check_program(Program program, const std::vector<ParameterValue>& parameters,
                    lang::Diagnostics& diagnostics);

} // namespace farfield::stencil
