// Fields in memory that ranks of one host copy from each other, without messages, or that messages hold.
#pragma once

#include "stencil/ir/ir.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace farfield::stencil {

class PeerFields {
public:
    virtual ~PeerFields() = default;

    /// What another rank needs to open this one's fields; empty where none can.
    virtual std::vector<std::byte> offer() = 0;
    /// Opens the fields of rank `peer`. @return whether they can be read from here
    virtual bool open(int peer, std::span<const std::byte> offer) = 0;
    /// Which copy of each buffer is current: what others need to know before they take.
    virtual std::vector<std::int32_t> current_copies() const = 0;
    /// Begins to copy cells of that copy of a peer's buffer to the same cells of the current copy here.
    virtual void take(int peer, int buffer, const ir::CellBox& cells, int copy) = 0;
    /// Calls visit(memory) for the stretches of memory that hold cells of the current copy here, with what
    /// lies between rows: the same stretches, in the same order, whichever rank holds these cells.
    virtual void each_stretch(int buffer, const ir::CellBox& cells,
                              const std::function<void(std::span<std::byte>)>& visit) = 0;
    /// Waits until all that was begun is done.
    virtual void wait() = 0;
    virtual void close() = 0;
};

} // namespace farfield::stencil
