// What the paper on transforming scientific algorithms to parallel code (Meyer, Plessl, Förstner) reports for
// its microdisk (2D TE, double). Nothing here is measured by Farfield. Its figures are not legible in the
// source at hand: these are the numbers of its text.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace farfield::seeds {

/// Figure 3: 10^9 stencils/s at 2048², threads of a block along x and y. Of 32×16 only the rank is told.
struct FdtdBlock {
    int x;
    int y;
    double giga_stencils;
};
constexpr std::array<FdtdBlock, 2> fdtd_blocks{{{2, 32, 0.84}, {32, 2, 1.62}}};
constexpr FdtdBlock fdtd_best_block{32, 16, 0};
constexpr std::int64_t fdtd_blocks_cells = 2048;

/// Chapter IV: 10^6 stencils/s. A multiplied mask gains up to 240 on top of the first; a conditional one
/// about 130 on that, above 4096².
constexpr double fdtd_without_mask = 2060;
constexpr double fdtd_multiplied_gain = 240;
constexpr double fdtd_conditional_gain = 130;

/// Figure 4: one GPU against one CPU (OpenMP, up to 8 cores), the two largest grids.
constexpr double fdtd_gpu_over_cpu = 15.3;
constexpr std::string_view fdtd_gpus = "Tesla C2050 and GTX 480";

/// Chapter IV: two nodes over Ethernet against one CPU, the largest grids; cells along a side below which
/// several GPUs gain nothing, and below which they are not worth while.
constexpr double fdtd_multi_over_cpu = 35.9;
constexpr std::int64_t fdtd_multi_gains_from = 512, fdtd_multi_pays_from = 2048;

} // namespace farfield::seeds
