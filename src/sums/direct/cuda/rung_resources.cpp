#include "sums/direct/cuda/rung_resources.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace farfield::cuda {
namespace {

constexpr int warp_threads = 32, register_unit = 256, schedulers = 4, shared_unit = 128;

int rounded_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

std::array<std::pair<int, std::string_view>, 4> by_name(const BlocksThatFit& fit) {
    return {{{fit.by_threads, "threads"},
             {fit.by_blocks, "blocks"},
             {fit.by_registers, "registers"},
             {fit.by_shared, "shared memory"}}};
}

} // namespace

int BlocksThatFit::all() const { return std::min({by_threads, by_blocks, by_registers, by_shared}); }

std::string_view BlocksThatFit::limit() const {
    const auto each = by_name(*this);
    return std::min_element(each.begin(), each.end(),
                            [](const auto& a, const auto& b) { return a.first < b.first; })
        ->second;
}

BlocksThatFit blocks_that_fit(const RungResources& kernel, const MultiprocessorLimits& limits) {
    constexpr int any = std::numeric_limits<int>::max();
    const int warps = rounded_up(kernel.threads, warp_threads) / warp_threads;
    BlocksThatFit fit{any, limits.blocks, any, any};
    if (warps > 0) fit.by_threads = limits.threads / (warps * warp_threads);
    const int of_a_warp = rounded_up(kernel.registers * warp_threads, register_unit);
    if (of_a_warp > 0 && warps > 0)
        fit.by_registers = limits.registers / schedulers / of_a_warp * schedulers / warps;
    const int shared = rounded_up(kernel.shared_bytes + limits.reserved_shared_bytes, shared_unit);
    if (shared > 0) fit.by_shared = limits.shared_bytes / shared;
    return fit;
}

double occupancy(const RungResources& kernel, const MultiprocessorLimits& limits) {
    if (limits.threads == 0) return 0.0;
    const int resident = kernel.blocks * rounded_up(kernel.threads, warp_threads);
    return static_cast<double>(resident) / limits.threads;
}

} // namespace farfield::cuda
