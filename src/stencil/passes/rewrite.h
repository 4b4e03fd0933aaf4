// Codes of a program and their roots, for passes.
#pragma once

#include "stencil/ir/ir.h"
#include "stencil/ir/op_info.h"

#include <vector>

namespace farfield::stencil {

/// A code and the places that name its results.
struct RootedCode {
    ir::Code* code = nullptr;
    std::vector<int*> roots;
};

/// Those that run in every step: of kernels and records.
std::vector<RootedCode> codes_of_steps(ir::Program& program);
/// All others: predicates, initial values, uniforms.
std::vector<RootedCode> other_codes(ir::Program& program);

/// Whether nodes may differ between cells.
std::vector<bool> varying(const ir::Code& code);

/// Total order on the bits of nodes: −0 is not 0.
bool less_by_bits(const ir::Node& a, const ir::Node& b);

/// Removes nodes that no root needs.
void remove_dead(const RootedCode& rooted);

/// Calls visit(operand) for each operand of a node.
template <class N, class Visit>
void for_each_operand(N& node, Visit&& visit) {
    for (int k = 0; k < ir::operands_of(node.op); ++k) visit(node.in[static_cast<std::size_t>(k)]);
}

} // namespace farfield::stencil
