// Reads and writes of kernels as boxes of offsets.
#include "stencil/passes/dependences.h"

#include <algorithm>
#include <cstdlib>

namespace farfield::stencil {
namespace {

/// Extends a box by an access at an offset, with all that the boundary makes of it.
void reach(Touch& touch, const std::array<int, 3>& offsets, const ir::Buffer& buffer) {
    for (std::size_t a = 0; a < 3; ++a) {
        const int o = offsets[a];
        int low = o;
        int high = o;
        if (o != 0 && buffer.boundary[a] == Boundary::clamp) {
            low = std::min(o, 0);
            high = std::max(o, 0);
        } else if (o != 0 && buffer.boundary[a] == Boundary::mirror) {
            // cell −1 − (i + o) lies at most |o| − 1 on the other side
            low = o < 0 ? o : -(o - 1);
            high = o < 0 ? -o - 1 : o;
        } else if (o != 0 && buffer.boundary[a] == Boundary::periodic) {
            touch.wraps[a] = true;
        }
        touch.least[a] = std::min(touch.least[a], low);
        touch.most[a] = std::max(touch.most[a], high);
    }
}

class Touches {
public:
    Touches(const ir::Program& program, const CurrentCopies& current)
        : program_(program), current_(current) {}

    void read(const ir::Code& code) {
        for (const auto& node : code.nodes) {
            if (node.op != ir::Op::load) continue;
            const auto& buffer = program_.buffers[static_cast<std::size_t>(node.index)];
            if (buffer.written) add(node.index, false, false, node.offsets);
        }
    }
    void add(int buffer, bool other_copy, bool write, const std::array<int, 3>& offsets) {
        const int now = current_[static_cast<std::size_t>(buffer)];
        const int copy = other_copy ? 1 - now : now;
        const auto& it = program_.buffers[static_cast<std::size_t>(buffer)];
        const auto found = std::find_if(all_.begin(), all_.end(), [&](const Touch& touch) {
            return touch.buffer == buffer && touch.copy == copy && touch.write == write;
        });
        if (found != all_.end()) return reach(*found, offsets, it);
        Touch touch{buffer, copy, write, offsets, offsets, {}};
        reach(touch, offsets, it);
        all_.push_back(touch);
    }
    std::vector<Touch> release() { return std::move(all_); }

private:
    const ir::Program& program_;
    const CurrentCopies& current_;
    std::vector<Touch> all_;
};

} // namespace

void run_over(const ir::Kernel& kernel, CurrentCopies& current) {
    for (const auto& store : kernel.stores)
        if (store.other_copy) current[static_cast<std::size_t>(store.buffer)] ^= 1;
}

std::vector<Touch> touches(const ir::Program& program, const ir::Kernel& kernel,
                           const CurrentCopies& current) {
    Touches out(program, current);
    out.read(kernel.code);
    for (const auto& store : kernel.stores) out.add(store.buffer, store.other_copy, true, {});
    for (const auto& carry : kernel.carries) {
        out.add(carry.buffer, false, false, {});
        out.add(carry.buffer, true, true, {});
    }
    return out.release();
}

std::vector<Touch> touches(const ir::Program& program, const ir::Record& record,
                           const CurrentCopies& current) {
    Touches out(program, current);
    out.read(record.code);
    return out.release();
}

std::vector<Dependence> dependences(std::span<const Touch> earlier, std::span<const Touch> later) {
    std::vector<Dependence> out;
    for (const auto& a : earlier)
        for (const auto& b : later) {
            if (a.buffer != b.buffer || a.copy != b.copy || (!a.write && !b.write)) continue;
            Dependence d;
            d.buffer = a.buffer;
            d.kind = !a.write  ? DependenceKind::anti
                     : b.write ? DependenceKind::output
                               : DependenceKind::flow;
            for (std::size_t axis = 0; axis < 3; ++axis) {
                // b's cell i touches i + o; a's cell j touches j + p: they meet where j = i + o − p
                d.least[axis] = b.least[axis] - a.most[axis];
                d.most[axis] = b.most[axis] - a.least[axis];
                d.wraps[axis] = a.wraps[axis] || b.wraps[axis];
            }
            out.push_back(d);
        }
    return out;
}

} // namespace farfield::stencil
