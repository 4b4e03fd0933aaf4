// Snapshots: GADGET-4's HDF5 layout (Springel et al. 2021, MNRAS 506, 2871; the user guide's "Snapshot file
// format"), which h5py, yt and pynbody open. Bodies are PartType1 with ParticleIDs of 64 bits; everything is
// stored in double precision with its unit as attributes. What GADGET has no place for is in the group
// /Farfield (see snapshot.cpp).
#pragma once

#include <farfield/simulation.h>
#include <farfield/units.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace farfield {

/// What a snapshot says besides its bodies.
struct SnapshotInfo {
    std::string name;       ///< of the case; appears in pictures
    double time = 0.0;      ///< in length unit / velocity unit
    double G = 1.0;         ///< in the snapshot's units; NaN: the file does not tell, though it should
    std::string G_origin;   ///< where G is from, in words; why there is none if it is NaN
    double softening = 0.0; ///< Plummer softening ε
    double core_size = 0.0; ///< σ of the cores of vortices
    Kernel kernel = Kernel::gravity;
    /// Lengths of the periodic box that the bodies are in, from 0 on; 0: open along that axis. Of other
    /// codes' files 0, whatever their BoxSize, which they also give where nothing is periodic.
    std::array<double, 3> box{};
    Units units;
    std::vector<std::string> body_names; ///< a name a body, in the order of rows; empty: they have none
    bool comoving = false; ///< read from other codes' files: coordinates are comoving; never written
};

/// "Sun,Earth" for names, and back: how files hold them.
std::string names_text(const std::vector<std::string>& names);
std::vector<std::string> names_from_text(std::string_view text);

/// au, solar mass and au/day.
Units solar_system_units();

struct Snapshot {
    Bodies bodies;
    SnapshotInfo info;
};

/// Writes a snapshot atomically; the same input gives the same bytes. `potential`: N values or empty.
/// @throws InvalidArgument where array lengths disagree; IoError.
void write_snapshot(const std::filesystem::path& path, const Bodies& bodies, const SnapshotInfo& info,
                    std::span<const double> potential = {});

/// Reads our own and other GADGET-4 (and AREPO-like) snapshots. Of one that is split (name.0.hdf5,
/// name.1.hdf5, …) any part names the whole. Read are the bodies of all particle types in the order of their
/// numbers, masses from /PartTypeN/Masses or the header's MassTable, float or double, ids of 32 or 64 bits.
/// Bodies without ids are numbered from 1. Charges are read where every type has them.
/// @throws InvalidArgument for content that is not allowed (names dataset and row), IoError for a file that
///         cannot be opened or is truncated.
Snapshot read_snapshot(const std::filesystem::path& path);
/// For the bytes of one file. @throws as read_snapshot, and InvalidArgument for a part of a split snapshot.
Snapshot parse_snapshot(std::span<const std::byte> bytes, const std::string& name);
/// The parts of a snapshot in their order; `path` alone where it is not split.
/// @throws InvalidArgument for a part whose name does not tell the names of the others.
std::vector<std::filesystem::path> files_of_snapshot(const std::filesystem::path& path);

} // namespace farfield
