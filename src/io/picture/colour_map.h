// The colours of densities and of fields.
#pragma once

#include "io/picture/canvas.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::picture {

/// From near black over violet, red and orange to pale yellow, for t in [0, 1] (values outside take the
/// ends). Lightness grows linearly with t, so that equal steps look equal and the map also reads in grey.
Colour density_colour(double t);

/// For values on both sides of 0: from dark blue over near white at t = 0 to dark red, for t in [−1, 1].
Colour signed_colour(double t);

/// A map by name, for t in [0, 1]. The lightness of one that is not centred grows linearly from 0.12 to 0.97;
/// of one that is, it falls in equal steps to both sides of t = 1/2, which stands for 0.
struct ColourMap {
    std::string_view name;
    bool centred = false;
    Colour (*at)(double t) = nullptr;
};

std::span<const ColourMap> colour_maps();
std::vector<std::string_view> colour_map_names();
/// @throws InvalidArgument for a name that is not known.
const ColourMap& colour_map(const std::string& name);

} // namespace farfield::picture
