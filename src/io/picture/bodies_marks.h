// Bodies one by one in a picture: discs, trails and names of few, points of more.
#pragma once

#include "io/picture/bodies_view.h"
#include "io/picture/canvas.h"
#include "io/picture/trails.h"

#include <span>
#include <string>

namespace farfield::picture {

/// Their area grows with mass; colours tell the sign of charges, or the trail that belongs to a disc.
void draw_discs(Canvas& canvas, const Rectangle& plot, const Projection& projection, const Bodies& bodies,
                bool with_trails);

/// Up to the time of the picture.
void draw_trails(Canvas& canvas, const Rectangle& plot, const Projection& projection, const Bodies& bodies,
                 const Trails& trails, double time);

/// Names beside the discs, the heaviest body's first; one that finds no room is left out.
void draw_names(Canvas& canvas, const Rectangle& plot, const Projection& projection, const Bodies& bodies,
                std::span<const std::string> names, double text);

/// Each body as a faint point; fainter where they crowd, so that the colours below keep their meaning.
/// `by_charge`: in the colours of their charges, on a map of these.
void draw_stars(Canvas& canvas, const Rectangle& plot, const Projection& projection, const Bodies& bodies,
                int size, bool by_charge, int threads);

} // namespace farfield::picture
