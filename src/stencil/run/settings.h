// What is looked at in the settings of a run before a file is written.
#pragma once

#include <farfield/stencil_run.h>

#include <cstdint>

namespace farfield {

/// @returns the step that the run ends at. @throws InvalidArgument for settings that are not allowed or name
/// a field that the program does not have.
std::int64_t checked_last_step(const StencilProgram& program, const StencilRunSettings& settings);

/// The part that needs no program. @throws InvalidArgument for files of pictures that are not .png, are
/// written twice, or a field with two animations.
void check_pictures(const StencilRunSettings& settings);

} // namespace farfield
