// Bodies from a file, in any format that io/bodies_file.h reads, with the time and the constant G that it
// states.
#include "dynamics/initial/model.h"
#include "io/bodies_file.h"

#include <farfield/error.h>

#include <fmt/format.h>

namespace farfield {
namespace {

// The units that the options state, for a file that states none.
void apply_units(const InitialOptions& options, SnapshotInfo& info) {
    if (options.length_unit.empty() && options.mass_unit.empty() && options.velocity_unit.empty()) return;
    if (are_physical(info.units))
        throw InvalidArgument(fmt::format(
            "{}: the file states its units ({}, {}, {}); leave out length_unit, mass_unit and velocity_unit",
            options.path.string(), info.units.length.name, info.units.mass.name, info.units.velocity.name));
    info.units = {length_unit(options.length_unit), mass_unit(options.mass_unit),
                  velocity_unit(options.velocity_unit)};
    info.G = gravitational_constant(info.units);
    info.G_origin = fmt::format("follows from the units {}, {} and {} (G = {:g} in cgs)", options.length_unit,
                                options.mass_unit, options.velocity_unit, newton_G_cgs);
}

InitialState make_from_file(const InitialOptions& options, int /*threads*/) {
    if (options.path.empty())
        throw InvalidArgument(
            "[initial] path is missing for kind = \"file\": set it to a .h5, .hdf5, .csv, .npy, "
            ".tipsy or .std file of bodies");
    Snapshot snapshot = read_bodies(options.path);
    apply_units(options, snapshot.info);
    return {std::move(snapshot.bodies), snapshot.info.time,  snapshot.info.G,
            snapshot.info.G_origin,     snapshot.info.units, std::move(snapshot.info.body_names)};
}

} // namespace

const InitialModel file_model{InitialKind::file, "path, length_unit, mass_unit, velocity_unit",
                              "Bodies from a GADGET-4 HDF5, CSV, .npy or Tipsy file, with its time and G",
                              make_from_file};

} // namespace farfield
