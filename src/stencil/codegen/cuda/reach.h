// How far around the cells that a block keeps it must know values, and which of its values threads show each
// other: what all fused passes share.
#pragma once

#include "stencil/ir/ir.h"

#include <array>
#include <map>
#include <vector>

namespace farfield::stencil::codegen::cuda {

/// Numbers along x, y and z.
using Sides = std::array<int, 3>;

/// How far around its kept cells a block needs a field's values.
struct Reach {
    Sides low = {};
    Sides high = {};
    bool none() const { return low == Sides{} && high == Sides{}; }
    void cover(const Reach& other);
};

using Reaches = std::map<int, Reach>; ///< of the written buffers

const ir::Kernel& kernel_of(const ir::Program& program, int number);
const ir::Buffer& buffer_of(const ir::Program& program, int number);

/// Registers of 32 bits that a value of the buffer takes.
int words_of(const ir::Program& program, int buffer);

Reaches written_by(const ir::Program& program, const std::vector<int>& kernels);

/// Backwards through the kernels of `steps` steps, from the kept cells at their end.
Reaches reach_of(const ir::Program& program, const std::vector<int>& kernels, const std::vector<int>& records,
                 int steps);

/// Whether reads at these offsets from the cells of a box leave the grid along an axis where the buffer
/// clamps or mirrors.
bool is_mapped(const ir::Program& program, const ir::Buffer& buffer, const ir::CellBox& box,
               const Sides& offsets, std::size_t axis);

/// The cells of a patch that a read at these offsets, done for all cells of a patch, finds in other patches.
std::vector<int> shown_cells(const Sides& patch, const Sides& offsets);

int round_up(int value, int unit);

} // namespace farfield::stencil::codegen::cuda
