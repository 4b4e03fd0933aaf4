// Runs with files on several ranks: rank 0 decides, reads and writes, as a run of one rank does, and tells
// the others before each call of the executor that all take part in.
#pragma once

#include "backend/comm/transport.h"
#include "stencil/api/prepare.h"
#include "stencil/runtime/executor.h"

#include <farfield/communicator.h>
#include <farfield/stencil_run.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>

namespace farfield {

/// What rank 0 tells the others.
class Leader {
public:
    explicit Leader(comm::Transport& transport) : transport_(transport) {}
    /// To call `prepare`, as this rank is about to.
    void prepare() const;
    /// Of all ranks' share of a prepared program, an executor for rank 0: reads and writes whole fields
    /// there.
    std::unique_ptr<stencil::Executor> lead(std::unique_ptr<stencil::Executor> share,
                                            std::shared_ptr<const stencil::ir::Program> program,
                                            std::function<bool()> stop_requested);
    /// Whether any rank was asked to stop, at the end of the last advance.
    [[nodiscard]] bool any_stops() const { return any_stops_; }
    void finish(const StencilRunResult& result) const;
    /// All ranks throw: this one the error itself. Not after RankFailed.
    [[noreturn]] void fail(std::exception_ptr error) const;

private:
    friend class LeadingExecutor;
    comm::Transport& transport_;
    bool any_stops_ = false;
};

/// What the other ranks do instead of a run.
StencilRunResult follow(comm::Transport& transport, const StencilProgram& program,
                        const StencilRunSettings& settings, const StencilRunHooks& hooks);

} // namespace farfield
