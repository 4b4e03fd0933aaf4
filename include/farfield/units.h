// Physical units of bodies, and the gravitational constant that follows from them.
#pragma once

#include <string>
#include <string_view>

namespace farfield {

/// The gravitational constant in cm³ g⁻¹ s⁻² (CODATA 2018): what "G from the units" is made of.
inline constexpr double newton_G_cgs = 6.67430e-8;

/// How people call a unit and what it is in cgs.
struct Unit {
    std::string name;
    double in_cgs = 1.0;
    friend bool operator==(const Unit&, const Unit&) = default;
};

/// The units of length, mass and velocity; that of time is length / velocity. Nameless units of 1 are N-body
/// units, which have no size.
struct Units {
    Unit length;
    Unit mass;
    Unit velocity;
    friend bool operator==(const Units&, const Units&) = default;
};

/// True unless the units are N-body units.
bool are_physical(const Units& units);

/// The gravitational constant in these units.
double gravitational_constant(const Units& units);

/// Units from texts such as "kpc", "1e10 Msun", "km/s": a number, which may be left out, and a name. A
/// velocity is a length "/" a time. The text is the name of the unit.
/// @throws InvalidArgument with the text and the names that are known.
Unit length_unit(std::string_view text);
Unit mass_unit(std::string_view text);
Unit velocity_unit(std::string_view text);

} // namespace farfield
