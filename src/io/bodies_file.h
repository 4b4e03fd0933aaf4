// Bodies to start a simulation from, in any of the formats Farfield reads.
#pragma once

#include "io/snapshot.h"

#include <filesystem>
#include <vector>

namespace farfield {

/// Reads bodies, by the extension of the name:
///   .h5 .hdf5     a GADGET-4 snapshot (snapshot.h) that is not comoving
///   .csv          a header that names x,y,z,vx,vy,vz,m and, for charged bodies, q, in any order
///   .npy          N×7 or N×8 in that order
///   .tipsy .std   Tipsy (tipsy.h)
/// Without ids in the file, bodies are numbered from 1 in its order.
/// @throws InvalidArgument naming file, row or line, and column for content that is not allowed; IoError.
Snapshot read_bodies(const std::filesystem::path& path);

/// The files that `read_bodies` reads: `path`, or all parts of a snapshot that is split.
std::vector<std::filesystem::path> files_of_bodies(const std::filesystem::path& path);

} // namespace farfield
