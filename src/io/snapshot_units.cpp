// Units of snapshots. GADGET-4 has them in /Parameters, Arepo in /Header as well, GIZMO in /Header under
// names of its own, SWIFT in /Units with a time in place of a velocity; GADGET-2 and GADGET-3 say nothing.
#include "io/snapshot_units.h"

#include "io/units.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>

namespace farfield {

void read_number(const hdf5::Group& group, const char* name, double& value) {
    if (!group.has_attribute(name)) return;
    value = group.attribute<double>(name);
    if (!std::isfinite(value))
        throw InvalidArgument(
            fmt::format("{}: attribute '{}' is {}; a finite number is needed", group.label(), name, value));
}

namespace {

constexpr std::array places{"Parameters", "Header", "Units"};

double number_in(const hdf5::Group& group, const char* name) {
    double value = 0.0;
    read_number(group, name, value);
    return value;
}

// The first of them that is not 0 in any of the places; 0 if none is.
double first_number(const hdf5::Group& root, std::initializer_list<const char*> names) {
    for (const auto* place : places) {
        if (!root.has_group(place)) continue;
        const auto group = root.group(place);
        for (const auto* name : names)
            if (const double value = number_in(group, name); value != 0.0) return value;
    }
    return 0.0;
}

// Sizes of the units in cgs, 0 where the file says nothing.
struct Sizes {
    double length = 0.0;
    double mass = 0.0;
    double velocity = 0.0;
    [[nodiscard]] bool complete() const { return length > 0.0 && mass > 0.0 && velocity > 0.0; }
    [[nodiscard]] bool any() const { return length > 0.0 || mass > 0.0 || velocity > 0.0; }
};

Sizes sizes_in(const hdf5::Group& root) {
    Sizes sizes{.length =
                    first_number(root, {"UnitLength_in_cm", "UnitLength_In_CGS", "Unit length in cgs (U_L)"}),
                .mass = first_number(root, {"UnitMass_in_g", "UnitMass_In_CGS", "Unit mass in cgs (U_M)"}),
                .velocity = first_number(root, {"UnitVelocity_in_cm_per_s", "UnitVelocity_In_CGS"})};
    const double time = first_number(root, {"Unit time in cgs (U_t)"});
    if (sizes.velocity == 0.0 && time > 0.0) sizes.velocity = sizes.length / time;
    return sizes;
}

double stored_G(const hdf5::Group& root) {
    const double G = first_number(root, {"GravityConstantInternal", "Gravitational_Constant_In_Code_Inits"});
    if (G != 0.0 || !root.has_group("PhysicalConstants")) return G;
    const auto constants = root.group("PhysicalConstants"); // SWIFT's
    return constants.has_group("InternalUnits") ? number_in(constants.group("InternalUnits"), "newton_G")
                                                : 0.0;
}

bool is_cosmological(const hdf5::Group& root) {
    if (root.has_group("Cosmology") && number_in(root.group("Cosmology"), "Cosmological run") != 0.0)
        return true;
    const double h = first_number(root, {"HubbleParam"});
    return first_number(root, {"Omega0", "OmegaLambda", "Omega_Matter", "Redshift"}) != 0.0 ||
           (h != 0.0 && h != 1.0);
}

// GADGET-2 and GADGET-3 do not say that coordinates are comoving, but then their time is the scale factor.
bool is_comoving(const hdf5::Group& root) {
    if (root.has_group("Cosmology") && number_in(root.group("Cosmology"), "Cosmological run") != 0.0)
        return true;
    for (const auto* place : {"Parameters", "Header"})
        if (root.has_group(place) && root.group(place).has_attribute("ComovingIntegrationOn"))
            return number_in(root.group(place), "ComovingIntegrationOn") != 0.0;
    const double redshift = first_number(root, {"Redshift"});
    return redshift != 0.0 && std::abs(first_number(root, {"Time"}) * (1.0 + redshift) - 1.0) < 1e-6;
}

// Whether the data sets state sizes in cgs.
bool has_sizes(const hdf5::Group& root) {
    for (int type = 0; type < 6; ++type) {
        const auto name = fmt::format("PartType{}", type);
        if (!root.has_group(name) || !root.group(name).has_dataset("Coordinates")) continue;
        const auto coordinates = root.group(name).dataset("Coordinates");
        for (const auto* attribute : {"to_cgs", "CGSConversionFactor"})
            if (coordinates.has_attribute(attribute)) {
                const auto size = coordinates.attribute<double>(attribute);
                if (size != 0.0 && size != 1.0) return true;
            }
    }
    return false;
}

void decide_G(const hdf5::Group& root, const Sizes& sizes, SnapshotInfo& info) {
    const double G = stored_G(root);
    if (G > 0.0) {
        info.G = G;
        info.G_origin = "stored in the file";
    } else if (sizes.complete()) {
        info.G = gravitational_constant(info.units);
        info.G_origin =
            fmt::format("follows from the units of the file, {:g} cm, {:g} g and {:g} cm/s (G = {:g} in cgs)",
                        sizes.length, sizes.mass, sizes.velocity, newton_G_cgs);
    } else if (sizes.any() || is_cosmological(root) || has_sizes(root)) {
        info.G = std::numeric_limits<double>::quiet_NaN();
        info.G_origin = "the file holds neither GravityConstantInternal > 0 nor all of UnitLength_in_cm, "
                        "UnitMass_in_g and "
                        "UnitVelocity_in_cm_per_s, but is in physical units or of a cosmological run";
    } else {
        info.G = 1.0;
        info.G_origin = "the file states neither units nor G: N-body units";
    }
}

} // namespace

void read_units(const hdf5::Group& root, SnapshotInfo& info) {
    const auto sizes = sizes_in(root);
    for (const double size : {sizes.length, sizes.mass, sizes.velocity})
        if (size < 0.0)
            throw InvalidArgument(
                fmt::format("{}: a unit is {} in cgs; a number > 0 is needed", root.label(), size));
    const bool without_size =
        sizes.length == 1.0 && sizes.mass == 1.0 && sizes.velocity == 1.0 && stored_G(root) > 0.0;
    if (sizes.complete() && !without_size)
        info.units = {named_length(sizes.length), named_mass(sizes.mass), named_velocity(sizes.velocity)};
    decide_G(root, sizes, info);
    info.comoving = is_comoving(root);
}

} // namespace farfield
