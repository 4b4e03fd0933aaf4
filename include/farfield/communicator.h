// The processes, or ranks, that compute together: those of an MPI job, or this one alone.
#pragma once

#include <memory>

namespace farfield {
namespace comm {
class Transport;
}

/// Which ranks take part in a sum, a simulation or a stencil run. A value; copies are the same ranks. All of
/// them make the same calls in the same order, from one thread each.
class Communicator {
public:
    /// This process alone.
    Communicator() = default;

    /// All processes that a launcher such as mpirun started together; this process alone where none did.
    /// Starts MPI at the first call unless the program has, and ends it with the program.
    /// @throws BackendUnavailable where a launcher started several and Farfield's MPI library is not there.
    static Communicator world();
    /// The ranks of an MPI communicator, by its Fortran handle (MPI_Comm_c2f). Its group is copied: messages
    /// of Farfield do not meet the program's.
    /// @throws BackendUnavailable as `world`, and for another MPI than the library was built for.
    static Communicator from_mpi(int fortran_handle);

    [[nodiscard]] int rank() const;
    [[nodiscard]] int size() const;
    friend bool operator==(const Communicator&, const Communicator&) = default; ///< the same object's copies

private:
    friend struct CommunicatorAccess;
    std::shared_ptr<comm::Transport> transport_; ///< null: this process alone
    bool holds_all_ = false;                     ///< each rank gives everything, not a part of its own
};

} // namespace farfield
