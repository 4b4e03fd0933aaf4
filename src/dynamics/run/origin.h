// What a run says and remembers of its beginning: the units of the bodies, where G is from, which file they
// were in.
#pragma once

#include "dynamics/run/checkpoint.h"

#include <farfield/run.h>

#include <filesystem>
#include <functional>
#include <string>

namespace farfield {

using Say = std::function<void(const std::string&)>;

/// For a run that begins. Tells the G of a file in physical units, and that a case's G is another.
RunOrigin run_origin(const Case& simulation_case, const InitialState& initial, const Say& say);

/// For a run that goes on. @throws InvalidArgument where the file of bodies is not the one that the run in
/// `folder` began with; that there is none any more is told.
void require_same_bodies(const Case& simulation_case, const RunOrigin& before,
                         const std::filesystem::path& folder, const Say& say);

} // namespace farfield
