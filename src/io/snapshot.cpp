// Writing snapshots in GADGET-4's HDF5 layout. /Farfield holds what that layout has no place for: Name,
// Kernel, Softening, CoreSize (of vortices that have one), Box (three lengths, of periodic boxes),
// LengthUnit, MassUnit, VelocityUnit (texts; empty for N-body units), BodyNames (text, separated by commas,
// where bodies have names) and FormatVersion.
#include "io/snapshot.h"

#include "base/text.h"
#include "io/hdf5.h"
#include "io/seal.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace farfield {
namespace {

constexpr int types = 6;       // particle types of a GADGET file
constexpr int type_of_all = 1; // ours are all "dark matter": points that only interact by the force
constexpr std::int32_t format_version = 1;

// Powers of the base units that make a quantity's unit.
struct Dimension {
    double length = 0.0;
    double mass = 0.0;
    double velocity = 0.0;
    double to_cgs = 0.0; // 0: dimensionless, as GADGET-4 writes it
};

void describe(hdf5::Dataset dataset, const Dimension& dimension) {
    dataset.write_attribute("to_cgs", dimension.to_cgs);
    dataset.write_attribute("a_scaling", 0.0); // not comoving
    dataset.write_attribute("h_scaling", 0.0);
    dataset.write_attribute("length_scaling", dimension.length);
    dataset.write_attribute("mass_scaling", dimension.mass);
    dataset.write_attribute("velocity_scaling", dimension.velocity);
}

bool has_box(const SnapshotInfo& info) { return info.box != std::array<double, 3>{}; }

// One length of a cube, as GADGET-4 has it, of other boxes three, as SWIFT has them; 0 without a box.
void write_box_size(hdf5::Group& group, const SnapshotInfo& info) {
    const auto& box = info.box;
    if (box[1] == box[0] && box[2] == box[0])
        group.write_attribute("BoxSize", box[0]);
    else
        group.write_attribute_array("BoxSize", std::span<const double>(box));
}

void write_header(hdf5::Group header, std::uint64_t bodies, const SnapshotInfo& info) {
    std::array<std::uint64_t, types> counts{};
    counts[type_of_all] = bodies;
    const std::array<double, types> no_masses{};
    header.write_attribute_array("NumPart_ThisFile", std::span<const std::uint64_t>(counts));
    header.write_attribute_array("NumPart_Total", std::span<const std::uint64_t>(counts));
    header.write_attribute_array("MassTable", std::span<const double>(no_masses));
    header.write_attribute("Time", info.time);
    header.write_attribute("Redshift", 0.0);
    write_box_size(header, info);
    header.write_attribute("NumFilesPerSnapshot", std::int32_t{1});
}

void write_parameters(hdf5::Group parameters, const SnapshotInfo& info) {
    parameters.write_attribute("ComovingIntegrationOn", std::int32_t{0});
    for (const auto* cosmology : {"Omega0", "OmegaLambda", "OmegaBaryon", "Hubble"})
        parameters.write_attribute(cosmology, 0.0);
    write_box_size(parameters, info);
    parameters.write_attribute("HubbleParam", 1.0);
    parameters.write_attribute("GravityConstantInternal", info.G);
    parameters.write_attribute("UnitLength_in_cm", info.units.length.in_cgs);
    parameters.write_attribute("UnitMass_in_g", info.units.mass.in_cgs);
    parameters.write_attribute("UnitVelocity_in_cm_per_s", info.units.velocity.in_cgs);
    // Where pynbody looks for the time; without it, it works out the age of a universe.
    constexpr double Gyr = 1e9 * 365.25 * 86400.0;
    parameters.write_attribute("Time_GYR",
                               info.time * info.units.length.in_cgs / info.units.velocity.in_cgs / Gyr);
    parameters.write_attribute("SofteningComovingClass0", info.softening);
    parameters.write_attribute("SofteningMaxPhysClass0", info.softening);
    for (int type = 0; type < types; ++type)
        parameters.write_attribute(fmt::format("SofteningClassOfPartType{}", type), std::int32_t{0});
    parameters.write_attribute("NumFilesPerSnapshot", std::int32_t{1});
}

void write_config(hdf5::Group config) {
    config.write_attribute("SELFGRAVITY", "");
    config.write_attribute("DOUBLEPRECISION", std::int32_t{1});
    config.write_attribute("OUTPUT_IN_DOUBLEPRECISION", "");
    config.write_attribute("NTYPES", std::int32_t{types});
}

void write_farfield(hdf5::Group group, const SnapshotInfo& info) {
    group.write_attribute("FormatVersion", format_version);
    group.write_attribute("Name", info.name);
    group.write_attribute("Kernel", std::string(name_of(info.kernel)));
    group.write_attribute("Softening", info.softening);
    if (info.core_size > 0.0) group.write_attribute("CoreSize", info.core_size);
    if (has_box(info)) group.write_attribute_array("Box", std::span<const double>(info.box));
    group.write_attribute("LengthUnit", info.units.length.name);
    group.write_attribute("MassUnit", info.units.mass.name);
    group.write_attribute("VelocityUnit", info.units.velocity.name);
    if (!info.body_names.empty()) group.write_attribute("BodyNames", names_text(info.body_names));
}

void write_bodies(hdf5::Group group, const Bodies& bodies, const SnapshotInfo& info,
                  std::span<const double> potential) {
    const auto n = bodies.size();
    const auto matrix = [&](const char* name, const std::vector<double>& values) {
        return group.write(name, std::span<const double>(values), {n, 3}, hdf5::Storage::checked);
    };
    const double velocity = info.units.velocity.in_cgs;
    describe(matrix("Coordinates", bodies.position), {.length = 1, .to_cgs = info.units.length.in_cgs});
    describe(matrix("Velocities", bodies.velocity), {.velocity = 1, .to_cgs = velocity});
    describe(group.write("ParticleIDs", bodies.id, hdf5::Storage::checked), {});
    describe(group.write("Masses", bodies.mass, hdf5::Storage::checked),
             {.mass = 1, .to_cgs = info.units.mass.in_cgs});
    if (!potential.empty())
        describe(group.write("Potential", potential, {n}, hdf5::Storage::checked),
                 {.velocity = 2, .to_cgs = velocity * velocity});
    if (!bodies.charge.empty()) describe(group.write("Charge", bodies.charge, hdf5::Storage::checked), {});
}

void require_lengths(const std::filesystem::path& path, const Bodies& bodies,
                     const std::vector<std::string>& names, std::span<const double> potential) {
    const auto n = bodies.mass.size();
    const auto require = [&](const char* what, std::size_t have, std::size_t want) {
        if (have != want)
            throw InvalidArgument(fmt::format("{}: {} bodies need {} values of {}, {} are given",
                                              path.string(), n, want, what, have));
    };
    require("position", bodies.position.size(), 3 * n);
    require("velocity", bodies.velocity.size(), 3 * n);
    require("id", bodies.id.size(), n);
    if (!bodies.charge.empty()) require("charge", bodies.charge.size(), n);
    if (!potential.empty()) require("potential", potential.size(), n);
    if (!names.empty()) require("name", names.size(), n);
}

} // namespace

std::string names_text(const std::vector<std::string>& names) { return joined(names, ","); }

std::vector<std::string> names_from_text(std::string_view text) {
    std::vector<std::string> names;
    if (text.empty()) return names;
    for (std::size_t at = 0; at <= text.size();) {
        const auto end = std::min(text.find(',', at), text.size());
        names.emplace_back(text.substr(at, end - at));
        at = end + 1;
    }
    return names;
}

Units solar_system_units() {
    // IAU 2012 Resolution B2 (au); IAU 2015 Resolution B3 and CODATA 2018's G (solar mass).
    return {{"au", 1.495978707e13}, {"solar masses", 1.98841e33}, {"au/day", 1.495978707e13 / 86400.0}};
}

void write_snapshot(const std::filesystem::path& path, const Bodies& bodies, const SnapshotInfo& info,
                    std::span<const double> potential) {
    require_lengths(path, bodies, info.body_names, potential);
    const auto file = hdf5::File::create();
    auto root = file.root();
    write_header(root.create_group("Header"), bodies.mass.size(), info);
    write_parameters(root.create_group("Parameters"), info);
    write_config(root.create_group("Config"));
    write_farfield(root.create_group("Farfield"), info);
    write_bodies(root.create_group(fmt::format("PartType{}", type_of_all)), bodies, info, potential);
    write_with_seal(path, file.image());
}

} // namespace farfield
