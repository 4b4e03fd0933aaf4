// Runs one rung of the ladder on threads, over prepared points.
#pragma once

#include "backend/threads/work_watch.h"
#include "sums/direct/cpu/tiles.h"
#include "sums/kernels/kernel.h"

#include <farfield/sum.h>

#include <cstdint>

namespace farfield {
namespace comm {
class Transport;
}

/// The fastest variant for this many points. Never a matter of threads: the bits depend on the variant.
Variant fastest_variant(bool self, std::int64_t sources);

/// What to run; `isa` and `variant` are resolved. Fills all targets of `sums`; those of a Hessian hold zeros
/// before, as do the others beside one, and all sums in the plane.
struct VariantTask {
    Variant variant = Variant::simd;
    Isa isa = Isa::scalar;
    PairLoop loop = PairLoop::inverse_distance; ///< of others, in the plane, `simd` and `symmetric` only
    Precision precision = Precision::float64;
    LoopOutputs outputs = field_and_potential;
    int threads = 1;
    bool self = false;
    double softening = 0.0;
    double sigma = 0.0; ///< of the cores of vortices; 0: points
    TilePoints targets;
    TilePoints sources;
    TileSums sums;
    comm::Transport* ranks = nullptr; ///< that share the work: all give the same task and get all sums
    WorkWatch* watch = nullptr;       ///< told of directed pairs; once stopped, sums are left unfinished
};

/// True for the variants that a CPU does not have; those follow the CPU's in the enum.
constexpr bool is_for_gpus_only(Variant variant) { return variant > Variant::symmetric; }

/// Fewer are the work of one thread.
constexpr std::int64_t targets_of_a_task = 256;

/// @throws comm::RankFailed
void run_variant(const VariantTask& task);

/// The same with the hooks of a sum. @throws Interrupted on all ranks where one of them is to stop
void run_watched(VariantTask task, const SumHooks& hooks);

} // namespace farfield
