#include "sums/direct/cuda/rungs.h"

#include "base/spelling.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace farfield::cuda {

namespace {

constexpr std::array<RungInfo, 21> rung_table{{
    {Rung::one_thread, "one-thread", "both loops in one thread of the GPU", true, false, false},
    {Rung::naive, "naive", "a thread a body, bodies as structures", true, false, false},
    {Rung::soa, "soa", "an array a coordinate", true, false, false},
    {Rung::constant, "constant", "parameters in constant memory", true, false, false},
    {Rung::rsqrt, "rsqrt", "one reciprocal square root for a square root and a division", true, false, false},
    {Rung::shared, "shared", "sources in tiles of shared memory", true, false, false},
    {Rung::unrolled, "unrolled", "the loop over a tile unrolled 8 times", true, false, false},
    {Rung::softened, "softened", "no self test where softening makes it needless", true, false, false},
    {Rung::fma, "fma", "the squared distance as one chain of fused multiply-adds", true, false, false},
    {Rung::unrolled_128, "unrolled-128", "unrolled 128 times", true, false, false},
    {Rung::flush, "flush", "compiled with -ftz=true: denormals count as 0", true, false, false},
    {Rung::two_loops, "two-loops", "from rsqrt: the self pair skipped by two loops", true, false, false},
    {Rung::atomics, "atomics", "from rsqrt: each pair once, the partner's share by atomics", false, false,
     false},
    {Rung::atomics_tiled, "atomics-tiled", "the partners' shares gathered in shared memory", false, false,
     false},
    {Rung::fast_math, "fast-math", "flush as compiled with -use_fast_math", true, false, false},
    {Rung::float4, "float4", "from naive: bodies of 16 bytes, rsqrtf, no self test (CUDA Handbook)", true,
     false, false, true},
    {Rung::atomics_pointer, "atomics-pointer",
     "from float4: each pair once, sums by a pointer (CUDA Handbook)", false, false, false, true},
    {Rung::atomics_index, "atomics-index", "the same with an index a sum", false, false, false, true},
    {Rung::register_tile, "register-tile", "from flush: several targets a thread, sources in chunks", true,
     true, true},
    {Rung::symmetric, "symmetric", "each pair once in registers, partial sums in a fixed order", true, false,
     true},
    {Rung::tensor, "tensor", "from symmetric: tiles far from each other on tensor cores", true, false, false,
     true},
}};

} // namespace

std::span<const RungInfo> rungs() { return rung_table; }

const RungInfo& info_of(Rung rung) { return rung_table[static_cast<std::size_t>(rung)]; }

Rung rung_of(Variant variant, bool self, Precision precision) {
    if (variant == Variant::automatic) return self ? Rung::symmetric : Rung::register_tile;
    const auto rung = rung_from_name(name_of(variant)); // rungs are spelled as variants are
    const auto name = spelled("variant", name_of(variant));
    if (!rung)
        throw InvalidArgument(
            fmt::format("{} is a rung of the CPU; use {}, or 'auto', 'symmetric' or 'register-tile' on a GPU",
                        name, spelled("device", "cpu")));
    const auto& info = info_of(*rung);
    if (!self && !info.separate_targets)
        throw InvalidArgument(
            fmt::format("{} needs targets = sources on a GPU; use 'auto' or 'register-tile' with separate "
                        "targets",
                        name));
    if (precision == Precision::mixed && !info.mixed)
        throw InvalidArgument(fmt::format("{} has no {}; use 'auto', 'symmetric' or 'register-tile'", name,
                                          spelled("precision", "mixed")));
    if (precision != Precision::float32 && info.float_field)
        throw InvalidArgument(fmt::format("{} computes in {} alone, not in '{}'; use 'auto' or 'symmetric'",
                                          name, spelled("precision", "float"), name_of(precision)));
    return *rung;
}

Variant variant_of(Rung rung) { return from_name<Variant>(info_of(rung).name).value(); }

std::optional<Rung> rung_from_name(std::string_view name) {
    for (const auto& info : rung_table)
        if (info.name == name) return info.rung;
    return std::nullopt;
}

} // namespace farfield::cuda
