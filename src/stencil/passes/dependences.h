// What separates two kernels: which cells of one have to be done before a cell of the other. For fusing, for
// running kernels row by row behind each other (wavefronts), and for doing several steps a pass over memory.
#pragma once

#include "stencil/ir/ir.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace farfield::stencil {

/// What a kernel does with one copy of a buffer: its cell i touches cells i + least to i + most, along each
/// axis of the grid.
struct Touch {
    int buffer = -1;
    int copy = 0; ///< 0 or 1
    bool write = false;
    std::array<int, 3> least = {};
    std::array<int, 3> most = {};
    /// Along axes with a periodic boundary some cells also reach the other end of the grid.
    std::array<bool, 3> wraps = {};

    bool own_cell() const { return least == std::array<int, 3>{} && most == std::array<int, 3>{}; }
};

/// The copy of each buffer that is current, 0 before the first step. A kernel with Store::other_copy changes
/// it.
using CurrentCopies = std::vector<int>;
void run_over(const ir::Kernel& kernel, CurrentCopies& current);

/// What a kernel touches, if `current` is as it begins; carries are reads and writes of the own cell. One
/// entry a buffer, copy and direction: reads at several offsets are joined to the box around them. Clamped
/// and mirrored boundaries are taken into account. Buffers that nothing writes are left out.
std::vector<Touch> touches(const ir::Program& program, const ir::Kernel& kernel,
                           const CurrentCopies& current);
std::vector<Touch> touches(const ir::Program& program, const ir::Record& record,
                           const CurrentCopies& current);

enum class DependenceKind : std::uint8_t {
    flow,  ///< the later one reads what the earlier one wrote
    anti,  ///< the later one overwrites what the earlier one reads
    output ///< both write
};

/// Cell i of the later kernel has to come after the cells i + least to i + most of the earlier one.
struct Dependence {
    DependenceKind kind = DependenceKind::flow;
    int buffer = -1;
    std::array<int, 3> least = {};
    std::array<int, 3> most = {};
    std::array<bool, 3> wraps = {};
};

/// Over whole grids: where the kernels' cells do not meet, there may be fewer.
std::vector<Dependence> dependences(std::span<const Touch> earlier, std::span<const Touch> later);

} // namespace farfield::stencil
