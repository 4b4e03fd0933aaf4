// The keys of [initial] that vortices use.
#include "dynamics/case_file/keys.h"

#include <array>

namespace farfield::case_file {
namespace {

using Kind = InitialKind;

constexpr KindSet vortices = bit(Kind::vortex_pair) | bit(Kind::leapfrogging_pairs) |
                             bit(Kind::vortex_sheet) | bit(Kind::vortex_patch);

std::array<Key, 8> make_vortex_keys() {
    return {
        Key{.section = "initial",
            .name = "circulation",
            .type = KeyType::number,
            .kinds = vortices,
            .default_text = "1.0",
            .unit = "circulation",
            .doc =
                "Γ of the first vortex of a pair, of each vortex of `leapfrogging-pairs` (one of a pair −Γ), "
                "or of "
                "sheet or patch as a whole; > 0 turns counter-clockwise.",
            .assign = [](Case& c, const Value& v) { c.initial.circulation = std::get<double>(v); }},
        Key{.section = "initial",
            .name = "circulation_ratio",
            .type = KeyType::number,
            .kinds = bit(Kind::vortex_pair),
            .default_text = "1.0",
            .doc =
                "Circulation of the second vortex over that of the first: 1 = they turn about each other, −1 "
                "= they "
                "travel.",
            .assign = [](Case& c, const Value& v) { c.initial.circulation_ratio = std::get<double>(v); }},
        Key{.section = "initial",
            .name = "distance",
            .type = KeyType::number,
            .range = {.low = 0.0, .low_open = true},
            .kinds = bit(Kind::vortex_pair) | bit(Kind::leapfrogging_pairs),
            .default_text = "1.0",
            .unit = "length",
            .doc = "Distance of the two vortices; of `leapfrogging-pairs` the width of the outer pair.",
            .assign = [](Case& c, const Value& v) { c.initial.distance = std::get<double>(v); }},
        Key{.section = "initial",
            .name = "width_ratio",
            .type = KeyType::number,
            .range = {.low = 0.0, .high = 1.0, .low_open = true, .high_open = true},
            .kinds = bit(Kind::leapfrogging_pairs),
            .default_text = "0.5",
            .doc = "Width of the inner pair over that of the outer; below 3 − √8 = 0.172 they part.",
            .assign = [](Case& c, const Value& v) { c.initial.width_ratio = std::get<double>(v); }},
        Key{.section = "initial",
            .name = "length",
            .type = KeyType::number,
            .range = {.low = 0.0, .low_open = true},
            .kinds = bit(Kind::vortex_sheet),
            .default_text = "1.0",
            .unit = "length",
            .doc = "Length of the sheet.",
            .assign = [](Case& c, const Value& v) { c.initial.length = std::get<double>(v); }},
        Key{.section = "initial",
            .name = "amplitude",
            .type = KeyType::number,
            .kinds = bit(Kind::vortex_sheet),
            .default_text = "0.01",
            .unit = "length",
            .doc = "Amplitude of the sine that displaces the sheet.",
            .assign = [](Case& c, const Value& v) { c.initial.amplitude = std::get<double>(v); }},
        Key{.section = "initial",
            .name = "waves",
            .type = KeyType::integer,
            .range = {.low = 0.0},
            .kinds = bit(Kind::vortex_sheet),
            .default_text = "1",
            .doc = "Periods of that sine along the sheet.",
            .assign = [](Case& c, const Value& v) { c.initial.waves = std::get<std::int64_t>(v); }},
        Key{.section = "initial",
            .name = "radius",
            .type = KeyType::number,
            .range = {.low = 0.0, .low_open = true},
            .kinds = bit(Kind::vortex_patch),
            .default_text = "1.0",
            .unit = "length",
            .doc = "Standard deviation of the patch along an axis. With cores the vorticity's variance is "
                   "`radius`² + "
                   "σ².",
            .assign = [](Case& c, const Value& v) { c.initial.radius = std::get<double>(v); }},
    };
}

} // namespace

std::span<const Key> vortex_keys() {
    static const auto keys = make_vortex_keys();
    return keys;
}

} // namespace farfield::case_file
