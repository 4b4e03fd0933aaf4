// One sum from files to files: what `farfield sum` does.
#pragma once

#include <farfield/sum.h>

#include <filesystem>
#include <string>

namespace farfield {

struct SumFilesTask {
    std::filesystem::path sources;   ///< .npy N×4 (x y z q), CSV with x,y,z,q in its header, or HDF5
    std::filesystem::path strengths; ///< N×k: .npy, .csv or HDF5; empty: those of the sources
    std::filesystem::path targets;   ///< .npy M×3, CSV x,y,z, or HDF5; empty: the sources
    /// .npy N×3, CSV px,py,pz, or HDF5; the sources may then lack charges; empty: none
    std::filesystem::path dipoles;
    SumOptions options;
    OutputSet wanted; ///< empty: all that the kernel has, but for the Hessian
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
