// Joining kernels. In a joined kernel all loads still come before all stores, so it is enough that neither
// reads neighbours of what the other writes; the own cell's new value is passed on as a node.
#include "stencil/passes/dependences.h"
#include "stencil/passes/passes.h"
#include "stencil/passes/rewrite.h"

#include <algorithm>
#include <map>
#include <utility>

namespace farfield::stencil {
namespace {

using ir::Kernel;
using ir::Op;

// Longer kernels gain nothing from being joined, and registers run out; with many kernels only neighbours are
// tried.
constexpr std::size_t most_fused_nodes = 2000;
constexpr std::size_t most_kernels_looked_ahead = 100;

bool own_cell_only(const std::vector<Dependence>& all) {
    return std::all_of(all.begin(), all.end(), [](const Dependence& d) {
        const std::array<int, 3> own = {};
        return d.least == own && d.most == own && d.wraps == std::array<bool, 3>{};
    });
}

const ir::Store* store_of(const Kernel& kernel, int buffer) {
    const auto found = std::find_if(kernel.stores.begin(), kernel.stores.end(),
                                    [&](const ir::Store& store) { return store.buffer == buffer; });
    return found == kernel.stores.end() ? nullptr : &*found;
}

bool carries_over(const Kernel& kernel, int buffer) {
    return std::any_of(kernel.carries.begin(), kernel.carries.end(),
                       [&](const ir::Carry& carry) { return carry.buffer == buffer; });
}

// What one writes in another copy the other must not write at all: copies change places once a kernel.
bool copies_agree(const Kernel& first, const Kernel& second) {
    for (const auto* kernel : {&first, &second})
        for (const auto& store : kernel->stores) {
            const auto& other = kernel == &first ? second : first;
            if (store.other_copy &&
                (store_of(other, store.buffer) != nullptr || carries_over(other, store.buffer)))
                return false;
        }
    return true;
}

bool joinable(const ir::Program& program, const Kernel& first, const Kernel& second) {
    if (first.grid != second.grid || first.every != second.every) return false;
    if (first.code.nodes.size() + second.code.nodes.size() > most_fused_nodes) return false;
    if (first.cells != second.cells && !(*first.cells == *second.cells)) return false;
    if (!copies_agree(first, second)) return false;
    CurrentCopies current(program.buffers.size(), 0);
    const auto earlier = touches(program, first, current);
    run_over(first, current);
    return own_cell_only(dependences(earlier, touches(program, second, current)));
}

Kernel fused(Kernel first, const Kernel& second) {
    std::map<int, int> value; // of each buffer that the first stores
    for (const auto& store : first.stores) value[store.buffer] = store.node;
    std::vector<int> place;
    for (auto node : second.code.nodes) {
        if (node.op == Op::load && value.contains(node.index)) {
            place.push_back(value[node.index]);
            continue;
        }
        for_each_operand(node, [&](int& o) { o = place[static_cast<std::size_t>(o)]; });
        place.push_back(static_cast<int>(first.code.nodes.size()));
        first.code.nodes.push_back(node);
    }
    for (auto store : second.stores) {
        store.node = place[static_cast<std::size_t>(store.node)];
        std::erase_if(first.stores, [&](const ir::Store& old) { return old.buffer == store.buffer; });
        first.stores.push_back(store);
    }
    first.carries.insert(first.carries.end(), second.carries.begin(), second.carries.end());
    first.name += "+" + second.name;
    return first;
}

// Whichever copy: moved past each other, one might find the other's copies changed.
bool independent(const ir::Program& program, const Kernel& first, const Kernel& second) {
    const CurrentCopies any(program.buffers.size(), 0);
    const auto earlier = touches(program, first, any);
    const auto later = touches(program, second, any);
    return std::none_of(earlier.begin(), earlier.end(), [&](const Touch& a) {
        return std::any_of(later.begin(), later.end(),
                           [&](const Touch& b) { return a.buffer == b.buffer && (a.write || b.write); });
    });
}

} // namespace

void fuse(ir::Program& program) {
    auto& kernels = program.kernels;
    for (std::size_t i = 0; i < kernels.size(); ++i)
        for (std::size_t k = i + 1;
             k < (kernels.size() > most_kernels_looked_ahead ? i + 2 : kernels.size()) &&
             k < kernels.size();) {
            bool free = true; // to move up past those between
            for (auto between = i + 1; between < k && free; ++between)
                free = independent(program, kernels[between], kernels[k]);
            if (!free || !joinable(program, kernels[i], kernels[k])) {
                ++k;
                continue;
            }
            kernels[i] = fused(std::move(kernels[i]), kernels[k]);
            kernels.erase(kernels.begin() + static_cast<std::ptrdiff_t>(k));
            k = i + 1;
        }
    cse(program);
}

} // namespace farfield::stencil
