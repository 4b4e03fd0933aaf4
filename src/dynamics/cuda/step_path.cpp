#include "dynamics/cuda/step_path.h"

#include <algorithm>
#include <array>

namespace farfield::cuda {
namespace {

constexpr int wanted_blocks = 128; // a block a multiprocessor on H100 and H200, which have 114 to 132
constexpr std::array paths{StepPath::launches, StepPath::graph, StepPath::long_graph, StepPath::persistent};

// Cycles of one warp: a row of 32 sources on 4 targets, and what a share costs besides its rows.
constexpr int row_cycles = 56;
constexpr int share_cycles = 120;

} // namespace

std::string_view name_of(StepPath path) {
    switch (path) {
    case StepPath::automatic:
        return "auto";
    case StepPath::launches:
        return "launches";
    case StepPath::graph:
        return "graph";
    case StepPath::long_graph:
        return "long-graph";
    case StepPath::persistent:
        return "persistent";
    }
    return "";
}

std::span<const StepPath> step_paths() { return paths; }

std::int64_t most_persistent_bodies(Precision precision) {
    return precision == Precision::float32 ? 12288 : 6144; // 192 KiB of points
}

StepPath fastest_path(std::int64_t n, Precision precision) {
    const std::int64_t persistent_pays =
        precision == Precision::float32 ? 10240 : (precision == Precision::mixed ? 6144 : 4096);
    if (n <= persistent_pays) return StepPath::persistent;
    return n <= 65536 ? StepPath::long_graph : StepPath::launches;
}

PersistentShape persistent_shape(int n) {
    PersistentShape shape;
    const int groups =
        std::max(1, (n + persistent_targets * wanted_blocks - 1) / (persistent_targets * wanted_blocks));
    shape.per_block = persistent_targets * groups;
    shape.blocks = std::max(1, (n + shape.per_block - 1) / shape.per_block);
    shape.padded = (std::max(n, shape.blocks * shape.per_block) + 31) / 32 * 32;
    const int rows = shape.padded / 32;
    int best = 0;
    for (int splits = 1; splits <= std::min(persistent_warps, rows); ++splits) {
        const int rounds = (groups * splits + persistent_warps - 1) / persistent_warps;
        const int cycles = rounds * ((rows + splits - 1) / splits * row_cycles + share_cycles);
        if (shape.splits != 0 && cycles >= best) continue;
        best = cycles;
        shape.splits = splits;
    }
    return shape;
}

} // namespace farfield::cuda
