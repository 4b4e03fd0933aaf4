// What --plot and --animate of `farfield stencil run` say.
#pragma once

#include <farfield/stencil_run.h>

#include <string>

namespace farfield::app {

/// "FIELD:out.png", and behind it in any order ":range=LOW,HIGH", ":slice=AXIS=CELL", ":colours=MAP".
/// @throws InvalidArgument.
StencilPlot stencil_plot(const std::string& text);

/// The same with ":every=N".
StencilAnimation stencil_animation(const std::string& text);

} // namespace farfield::app
