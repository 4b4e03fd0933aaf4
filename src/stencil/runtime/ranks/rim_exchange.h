// Brings the rims of a rank's part up to date from the blocks of other ranks: by messages, or where the ranks
// are processes of one host whose GPUs read each other's memory, by copies.
#pragma once

#include "backend/comm/transport.h"
#include "stencil/runtime/executor.h"
#include "stencil/runtime/ranks/exchange_plan.h"

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
std::unique_ptr<RimExchange> make_rim_exchange(comm::Transport& transport, const ir::Program& program,
                                               const ExchangePlan& plan, Executor& part);

} // namespace farfield::stencil::ranks
