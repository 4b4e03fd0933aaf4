// How the library gets at the messages behind a Communicator.
#pragma once

#include "backend/comm/transport.h"

#include <farfield/communicator.h>

#include <memory>

namespace farfield {

struct CommunicatorAccess {
    static Communicator of(std::shared_ptr<comm::Transport> transport);
    /// Null where this process is alone.
    static comm::Transport* transport(const Communicator& communicator);

    /// The same ranks, each of which gives all points and wants all results.
    static Communicator with_everything(Communicator communicator);
    /// Each gives points of its own, and wants results at these.
    static Communicator with_own(Communicator communicator);
    static bool gives_everything(const Communicator& communicator) { return communicator.holds_all_; }
    /// There are other ranks, and each gives points of its own.
    static bool gives_own(const Communicator& communicator) {
        return transport(communicator) != nullptr && !gives_everything(communicator);
    }
};

} // namespace farfield
