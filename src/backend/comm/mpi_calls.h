// The functions of libfarfield_mpi, the one part of Farfield that is linked to MPI (mpi/farfield_mpi.cpp):
// plain C, so that the rest knows no MPI, and loads it only in a job of several ranks. Communicators are
// Fortran handles. A function that returns int returns 0, or an error of MPI for `text_of_error`.
#pragma once

#include <cstddef>
#include <cstdint>

namespace farfield::comm {

inline constexpr int mpi_calls_version = 1; ///< raised whenever this table changes

struct MpiCalls {
    int version;
    const char* (*library)(); ///< the MPI that this was built for
    int (*is_running)();      ///< 1: initialised, and not finalised
    int (*start)();           ///< initialises MPI for one thread at a time
    int (*finish)();          ///< finalises it
    void (*abort)(int code);  ///< ends all ranks of the world
    int (*world)();           ///< the world's handle
    int (*duplicate)(int of, int* copy);
    int (*release)(int communicator);
    int (*rank)(int communicator, int* rank);
    int (*size)(int communicator, int* size);
    int (*local)(int communicator, int* rank, int* size); ///< among the ranks that share a memory
    // A message under way is an opaque pointer, given back by `wait`, or by `test` once *done is 1.
    int (*send)(int communicator, const void* data, std::size_t bytes, int to, int tag, void** message);
    int (*receive)(int communicator, void* data, std::size_t bytes, int from, int tag, void** message);
    int (*wait)(void* message);
    int (*test)(void* message, int* done);
    int (*barrier)(int communicator);
    int (*arrive)(int communicator, void** message); ///< a barrier that is waited for as a message
    int (*broadcast)(int communicator, void* data, std::size_t bytes, int root);
    /// Sizes and places in bytes, below 2 GiB.
    int (*all_gather)(int communicator, const void* mine, void* all, const int* sizes, const int* places);
    void (*text_of_error)(int error, char* text, int capacity);
    int (*takes_gpu_memory)(); ///< 1: MPI says that it reads and writes a GPU's memory
};

/// What the library exports.
using MpiCallsFunction = const MpiCalls*();
inline constexpr const char* mpi_calls_name = "farfield_mpi_calls";

} // namespace farfield::comm
