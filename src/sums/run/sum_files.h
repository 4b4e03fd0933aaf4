// One sum from files to files: what `farfield sum` does.
#pragma once

#include <farfield/density.h>
#include <farfield/sum.h>

#include <filesystem>
#include <optional>
#include <string>

namespace farfield {

struct SumFilesTask {
    std::filesystem::path sources;   ///< .npy N×4 (x y z q), CSV with x,y,z,q in its header, or HDF5
    std::filesystem::path strengths; ///< N×k: .npy, .csv or HDF5; empty: those of the sources
    std::filesystem::path targets;   ///< .npy M×3, CSV x,y,z, or HDF5; empty: the sources
    /// .npy N×3, CSV px,py,pz, or HDF5; the sources may then lack charges; empty: none
    std::filesystem::path dipoles;
    /// .npy N or N×1, or CSV with one column: the width of each source's Gaussian; empty: `options.sigma`
    std::filesystem::path sigmas;
    SumOptions options;
    /// A density takes the place of the potential, and is divided and whitened as farfield/density.h says. A
    /// file of sources without strengths then has weights of 1.
    std::optional<BandwidthRule> density{};
    bool unweighted = false; ///< of a density: every column of a .npy is a coordinate, and all weights are 1
    /// Empty: all that the kernel has, but for the Hessian; of a density the density alone.
    OutputSet wanted;
    SumHooks hooks;
    int repeat = 1;             ///< times the sum is executed, ≥ 1; the fastest counts
    std::filesystem::path out;  ///< .npy, .csv or .h5
    std::filesystem::path json; ///< report; empty: none
};

/// Reads, computes, writes. @returns what was done in one or two lines for people.
/// @throws InvalidArgument, IoError, BackendUnavailable; ToleranceNotReached and Interrupted before anything
/// is written.
std::string sum_files(const SumFilesTask& task);

} // namespace farfield
