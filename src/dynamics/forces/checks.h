// What forces need of options and bodies, and what is said of results that are not finite.
#pragma once

#include "dynamics/bodies/body_rows.h"

#include <farfield/simulation.h>

#include <string_view>
#include <vector>

namespace farfield {

/// @throws InvalidArgument for options that are not allowed, and for bodies that do not fit the kernel.
void check_force(const ForceOptions& options, const Bodies& bodies);

/// `values`: N×3. @param rows  those that the bodies are, of all ranks' bodies
/// @throws InvalidArgument naming the first body whose `what` is not finite.
void check_finite(const Bodies& bodies, const std::vector<double>& values, const char* what,
                  const BodyRows& rows = {});

/// @throws InvalidArgument naming two bodies that are at the same place, if any are.
void check_places_differ(const Bodies& bodies, const std::vector<double>& position,
                         std::string_view softener = "softening");

/// Says what is wrong with results that are not finite, of bodies at `position`.
/// @throws InvalidArgument naming the bodies, always.
[[noreturn]] void refuse_not_finite(const Bodies& bodies, const std::vector<double>& position,
                                    const std::vector<double>& acceleration);

} // namespace farfield
