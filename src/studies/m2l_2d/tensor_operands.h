// The matrices of all translations as tensor cores take them: in TF32 (10 bits behind the first), each number
// a sum of two. A product of two such sums without that of their small parts keeps some 21 bits.
//
// Of the matrix A of mma.m16n8k8, thread `lane` of a warp has rows g = lane/4 and g + 8, columns c = lane%4
// and c + 4. Here row g is Re of term n = 8·tile + g, and row g + 8 its Im. Column c is Re of term
// k = 4·step + c, and column c + 4 its Im. All four numbers then come from one complex entry.
#pragma once

#include "studies/m2l_2d/grid.h"
#include "studies/m2l_2d/problem.h"

#include <vector>

namespace farfield::m2l2d {

struct alignas(16) TensorOperand {
    float re, im, re_rest, im_rest;
};

FF_HD constexpr int row_tiles(int terms) { return (terms + 7) / 8; }
FF_HD constexpr int column_steps(int terms) { return terms / 4; }
/// Operands of one slot, [step][tile][lane].
FF_HD constexpr int operands_a_slot(int terms) { return row_tiles(terms) * column_steps(terms) * 32; }

/// The nearest number with TF32's bits.
float in_tf32(double value);

/// [quarter][slot][step][tile][lane] of our form, for targets: d leads against the slot's offset. Rows beyond
/// the last term are 0.
std::vector<TensorOperand> tensor_operands(int terms);

} // namespace farfield::m2l2d
