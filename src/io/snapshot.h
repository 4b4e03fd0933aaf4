// Snapshots: GADGET-4's HDF5 layout (Springel et al. 2021, MNRAS 506, 2871; the user guide's "Snapshot file
// format"), which h5py, yt and pynbody open. Bodies are PartType1 with ParticleIDs of 64 bits; everything is
// stored in double precision with its unit as attributes. What GADGET has no place for is in the group
// /Farfield (see snapshot.cpp).
#pragma once

#include <farfield/simulation.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace farfield {

/// A unit of a snapshot: how people call it and what it is in cgs. Nameless units of 1 are N-body units.
struct Unit {
    std::string name;
    double in_cgs = 1.0;
};

/// What a snapshot says besides its bodies.
struct SnapshotInfo {
    std::string name;       ///< of the case; appears in pictures
    double time = 0.0;      ///< in length unit / velocity unit
    double G = 1.0;         ///< in the snapshot's units
    double softening = 0.0; ///< Plummer softening ε
    Kernel kernel = Kernel::gravity;
    Unit length;
    Unit mass;
    Unit velocity;
    bool comoving = false; ///< read from other codes' files: coordinates are comoving; never written
};

/// au, solar mass and au/day: the units of the solar system.
SnapshotInfo solar_system_info();

struct Snapshot {
    Bodies bodies;
    SnapshotInfo info;
};

/// Writes a snapshot atomically; the same input gives the same bytes. `potential`: N values or empty.
/// @throws InvalidArgument where array lengths disagree; IoError.
void write_snapshot(const std::filesystem::path& path, const Bodies& bodies, const SnapshotInfo& info,
                    std::span<const double> potential = {});

/// Reads our own and other GADGET-4 (and AREPO-like) snapshots held in one file: the bodies of all particle
/// types in the order of their numbers, masses from /PartTypeN/Masses or the header's MassTable, float or
/// double, ids of 32 or 64 bits. Bodies without ids are numbered from 1. Charges are read where every type
/// has them.
/// @throws InvalidArgument for content that is not allowed (names dataset and row), IoError for a file that
///         cannot be opened or is truncated.
Snapshot read_snapshot(const std::filesystem::path& path);
Snapshot parse_snapshot(std::span<const std::byte> bytes, const std::string& name);

} // namespace farfield
