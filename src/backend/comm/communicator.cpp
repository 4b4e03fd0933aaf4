#include "backend/comm/communicator_access.h"
#include "backend/comm/mpi_job.h"

#include <utility>

namespace farfield {

Communicator Communicator::world() { return CommunicatorAccess::of(comm::world_of_launcher()); }

Communicator Communicator::from_mpi(int fortran_handle) {
    return CommunicatorAccess::of(comm::ranks_of_mpi(fortran_handle));
}

int Communicator::rank() const { return transport_ ? transport_->rank() : 0; }
int Communicator::size() const { return transport_ ? transport_->size() : 1; }

Communicator CommunicatorAccess::of(std::shared_ptr<comm::Transport> transport) {
    Communicator out;
    out.transport_ = std::move(transport);
    return out;
}

Communicator CommunicatorAccess::with_everything(Communicator communicator) {
    communicator.holds_all_ = true;
    return communicator;
}

Communicator CommunicatorAccess::with_own(Communicator communicator) {
    communicator.holds_all_ = false;
    return communicator;
}

comm::Transport* CommunicatorAccess::transport(const Communicator& communicator) {
    return communicator.size() > 1 ? communicator.transport_.get() : nullptr;
}

} // namespace farfield
