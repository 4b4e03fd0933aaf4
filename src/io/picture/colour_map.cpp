// The anchors were computed for this program as a path through Oklab (Ottosson 2020,
// https://bottosson.github.io/posts/oklab): lightness 0.12 to 0.97 in equal steps; hue from 275 degrees
// (blue) through 325, 25, 55 to 103 (yellow) and chroma 0.04 to 0.19 and back to 0.06, both piecewise linear;
// chroma lowered where sRGB ends. Those for signed values likewise: lightness 0.975 in the middle, falling in
// equal steps to 0.36 on both sides; hue from 235 to 262 degrees (blue) and from 45 to 25 (red).
#include "io/picture/colour_map.h"

#include "base/text.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace farfield::picture {
namespace {

constexpr std::array<Colour, 33> anchors{
    {{3, 4, 21},      {6, 6, 34},      {12, 7, 48},    {18, 9, 63},    {26, 9, 78},     {35, 9, 92},
     {47, 12, 101},   {60, 14, 109},   {73, 16, 115},  {87, 18, 121},  {102, 19, 125},  {117, 20, 127},
     {135, 19, 125},  {153, 17, 119},  {168, 25, 109}, {183, 33, 99},  {195, 44, 87},   {207, 56, 73},
     {216, 68, 62},   {225, 80, 57},   {232, 93, 54},  {237, 106, 53}, {243, 120, 54},  {247, 133, 57},
     {251, 145, 62},  {254, 159, 67},  {255, 173, 80}, {255, 187, 94}, {255, 200, 109}, {255, 213, 126},
     {255, 225, 143}, {252, 237, 173}, {252, 248, 201}}};

constexpr std::array<Colour, 17> signed_anchors{{{9, 52, 138},
                                                 {2, 75, 170},
                                                 {2, 101, 197},
                                                 {3, 126, 225},
                                                 {8, 153, 252},
                                                 {86, 180, 254},
                                                 {146, 204, 248},
                                                 {202, 225, 241},
                                                 {247, 247, 247},
                                                 {241, 215, 205},
                                                 {246, 178, 155},
                                                 {252, 134, 99},
                                                 {246, 89, 49},
                                                 {220, 56, 26},
                                                 {190, 26, 12},
                                                 {156, 3, 12},
                                                 {119, 1, 15}}};

// Hue from 280 (blue) through 245 and 185 to 110 degrees (yellow green), chroma 0.05 to 0.13 and back to
// 0.06.
constexpr std::array<Colour, 17> ocean_anchors{{{4, 3, 24},
                                                {9, 12, 43},
                                                {13, 24, 63},
                                                {14, 38, 83},
                                                {8, 53, 104},
                                                {0, 70, 121},
                                                {2, 88, 131},
                                                {3, 107, 139},
                                                {5, 126, 147},
                                                {5, 145, 154},
                                                {5, 165, 159},
                                                {9, 185, 158},
                                                {95, 200, 155},
                                                {143, 212, 158},
                                                {183, 224, 166},
                                                {218, 237, 182},
                                                {247, 249, 203}}};

constexpr std::array<Colour, 17> grey_anchors{{{6, 6, 6},
                                               {16, 16, 16},
                                               {28, 28, 28},
                                               {41, 41, 41},
                                               {54, 54, 54},
                                               {68, 68, 68},
                                               {82, 82, 82},
                                               {97, 97, 97},
                                               {112, 112, 112},
                                               {127, 127, 127},
                                               {143, 143, 143},
                                               {160, 160, 160},
                                               {176, 176, 176},
                                               {193, 193, 193},
                                               {210, 210, 210},
                                               {227, 227, 227},
                                               {245, 245, 245}}};

// As signed_anchors, with hues about 308 (purple) and 149 (green).
constexpr std::array<Colour, 17> purple_green_anchors{{{82, 24, 126},
                                                       {104, 49, 150},
                                                       {127, 72, 174},
                                                       {150, 95, 199},
                                                       {170, 126, 209},
                                                       {189, 156, 219},
                                                       {208, 186, 229},
                                                       {228, 216, 238},
                                                       {247, 247, 247},
                                                       {207, 228, 210},
                                                       {168, 209, 175},
                                                       {128, 189, 139},
                                                       {85, 170, 104},
                                                       {24, 150, 67},
                                                       {2, 125, 50},
                                                       {1, 99, 37},
                                                       {0, 75, 25}}};

std::uint8_t between(std::uint8_t a, std::uint8_t b, double fraction) {
    return static_cast<std::uint8_t>(
        std::lround(static_cast<double>(a) * (1 - fraction) + static_cast<double>(b) * fraction));
}

// The colour at t in [0, 1] of a path through the anchors.
template <std::size_t N>
Colour along(const std::array<Colour, N>& path, double t) {
    const double place = std::clamp(t, 0.0, 1.0) * static_cast<double>(N - 1);
    const auto index = std::min(static_cast<std::size_t>(place), N - 2);
    const double fraction = place - static_cast<double>(index);
    const auto& a = path[index];
    const auto& b = path[index + 1];
    return {between(a.red, b.red, fraction), between(a.green, b.green, fraction),
            between(a.blue, b.blue, fraction)};
}

} // namespace

Colour density_colour(double t) { return along(anchors, t); }

Colour signed_colour(double t) { return along(signed_anchors, (t + 1) / 2); }

std::span<const ColourMap> colour_maps() {
    static constexpr std::array maps{
        ColourMap{"heat", false, [](double t) { return along(anchors, t); }},
        ColourMap{"ocean", false, [](double t) { return along(ocean_anchors, t); }},
        ColourMap{"grey", false, [](double t) { return along(grey_anchors, t); }},
        ColourMap{"blue-red", true, [](double t) { return along(signed_anchors, t); }},
        ColourMap{"purple-green", true, [](double t) { return along(purple_green_anchors, t); }}};
    return maps;
}

std::vector<std::string_view> colour_map_names() {
    std::vector<std::string_view> names;
    for (const auto& map : colour_maps()) names.push_back(map.name);
    return names;
}

const ColourMap& colour_map(const std::string& name) {
    for (const auto& map : colour_maps())
        if (map.name == name) return map;
    throw InvalidArgument(
        fmt::format("colours '{}' are not known; known: {}", name, list_of_words(colour_map_names())));
}

} // namespace farfield::picture
