// How a program is to be executed, for all targets: the code that is printed depends on it.
#pragma once

#include <array>
#include <cstdint>

namespace farfield::stencil {

/// How cells outside a subdomain are left alone; results are the same bits. `none` evaluates the condition in
/// each cell of the bounding box; `multiply` loads, chooses by a 0/1 array and stores; `branch` has an array
/// of bytes and an if; `spans` visits the cells of the set alone; `automatic`: what the target's measurements
/// say.
enum class Mask : std::uint8_t { automatic, none, multiply, branch, spans };

struct ExecutorOptions {
    Mask mask = Mask::automatic;
    int threads = 0;   ///< 0: all
    int device = 0;    ///< of GPUs
    int time_tile = 0; ///< steps a pass over memory; 0: the target chooses, 1: none
    /// 0: the target chooses. cuda: cells of a tile along the axes, or threads of a block where
    /// kernels are not fused. cpu: that along the last axis of a grid is how many rows (of 3D grids: planes)
    /// of a kernel are done before those of the next one.
    std::array<int, 3> block = {};
    bool fuse = true; ///< targets may run kernels of a step in one pass
};

} // namespace farfield::stencil
