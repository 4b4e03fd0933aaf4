// The rungs of the optimisation ladder by name, without a CUDA header.
#pragma once

#include <farfield/sum.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace farfield::cuda {

/// One way to compute a direct sum on a GPU; README.md beside this file walks from one to the next.
enum class Rung : std::uint8_t {
    one_thread,
    naive,
    soa,
    constant,
    rsqrt,
    shared,
    unrolled,
    softened,
    fma,
    unrolled_128,
    flush,
    two_loops,
    atomics,
    atomics_tiled,
    fast_math,
    float4,
    atomics_pointer,
    atomics_index,
    register_tile,
    symmetric,
    tensor
};

struct RungInfo {
    Rung rung;
    std::string_view name;    ///< as `--variant` takes it
    std::string_view idea;    ///< what it adds to the rung before it
    bool deterministic;       ///< false: float atomics, the last bits move from run to run
    bool separate_targets;    ///< true: targets may differ from the sources
    bool mixed;               ///< true: computes Precision::mixed as well
    bool float_field = false; ///< true: computes the field in Precision::float32 and nothing else
};

/// The rung that computes `variant`; `Variant::automatic` stands for the fastest that applies.
/// @throws InvalidArgument for a variant of the CPU alone, one that needs targets = sources where they are
/// not
///         (`self` false), and one without the precision.
Rung rung_of(Variant variant, bool self, Precision precision);
Variant variant_of(Rung rung);

/// All rungs: the main line in order, the side branches, then those that are fast on today's GPUs.
std::span<const RungInfo> rungs();

const RungInfo& info_of(Rung rung);
std::optional<Rung> rung_from_name(std::string_view name);

} // namespace farfield::cuda
