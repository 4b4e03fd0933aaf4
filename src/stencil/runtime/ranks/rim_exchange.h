// Brings the rims of a rank's part up to date from the blocks of other ranks: by copies where the ranks are
// processes of one host whose GPUs read each other's memory, otherwise by messages, which hold the memory of
// GPUs where MPI knows them.
#pragma once

#include "backend/comm/transport.h"
#include "stencil/runtime/executor.h"
#include "stencil/runtime/ranks/exchange_plan.h"

#include <farfield/device.h>

#include <memory>
#include <string_view>

namespace farfield::stencil::ranks {

class RimExchange {
public:
    RimExchange() = default;
    RimExchange(const RimExchange&) = delete;
    RimExchange& operator=(const RimExchange&) = delete;
    virtual ~RimExchange() = default;

    /// All ranks call it; each returns once its part may go on.
    virtual void bring() = 0;
    virtual std::string_view name() const = 0; ///< "by messages": what follows "exchanges"
};

/// All ranks make theirs at the same time, and all of the same kind. What is given must stay.
/// @throws BackendUnavailable on all ranks where `on` is wanted of parts on GPUs and MPI knows no GPUs
std::unique_ptr<RimExchange> make_rim_exchange(comm::Transport& transport, const ir::Program& program,
                                               const ExchangePlan& plan, Executor& part, MpiGpu mpi_gpu);

} // namespace farfield::stencil::ranks
