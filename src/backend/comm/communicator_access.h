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
};

} // namespace farfield
