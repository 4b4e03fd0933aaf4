// How steps are put on a GPU, and the one rule that chooses: by number of bodies and precision alone, so that
// a run gives the same bits whatever its outputs and however often it is restarted.
#pragma once

#include <farfield/sum.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace farfield::cuda {

/// `launches`: every kernel launched by itself. `graph`: a step recorded once. `long_graph`: 16 steps
/// recorded once. These three give the same bits. `persistent`: one kernel takes many steps, with sums of its
/// own.
enum class StepPath : std::uint8_t { automatic, launches, graph, long_graph, persistent };

std::string_view name_of(StepPath path);
std::span<const StepPath> step_paths();

/// The fastest path as measured on an H200 (docs/decisions/0012-steps-on-gpus.md).
StepPath fastest_path(std::int64_t n, Precision precision);

/// Most bodies that the persistent kernel takes: all points must fit into the shared memory of a block.
std::int64_t most_persistent_bodies(Precision precision);

/// How the persistent kernel divides n bodies. The bits of a sum depend on `splits` alone, so on n alone.
struct PersistentShape {
    int per_block = 0; ///< targets of a block, a multiple of 4
    int blocks = 0;
    int splits = 0; ///< parts that the sum of a target is cut into, one a warp
    int padded = 0; ///< points in shared memory, a multiple of 32
};
constexpr int persistent_warps = 16;
constexpr int persistent_targets = 4; ///< of a warp
PersistentShape persistent_shape(int n);

} // namespace farfield::cuda
