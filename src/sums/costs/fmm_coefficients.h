// The coefficients of the fast multipole method in the cost table.
#pragma once

#include <farfield/sum_options.h>

#include <string>
#include <string_view>

namespace farfield {

namespace fmm_cost {
/// Multiply-adds a second of a thread in translations from cell to cell.
std::string cpu_multiply_adds_per_second(Isa isa, bool wide);
/// The same by rotation, where work is counted in multiply-adds (rotated_offsets.h).
std::string cpu_rotated_work_per_second(Isa isa, bool wide);
/// The same to cells in lanes, where work is counted in multiply-adds (`block_work_a_cell`).
std::string cpu_block_work_per_second(Isa isa, bool wide);
/// Functions a second of a thread, when expansions are formed and evaluated at points.
std::string cpu_functions_per_second(Isa isa, bool wide);
/// Of a cell beside its multiply-adds: to find its senders and to form their sums.
constexpr std::string_view cpu_cell_seconds = "fmm.cpu.cell_seconds";
constexpr std::string_view cpu_fixed_seconds = "fmm.cpu.fixed_seconds"; ///< of few points, on all threads
constexpr std::string_view cpu_point_seconds = "fmm.cpu.point_seconds"; ///< of the tree and its lists
constexpr std::string_view cpu_leaf_seconds = "fmm.cpu.leaf_seconds";   ///< the same, of a leaf
/// Of two leaves that act point by point, one direction or both at once, beside their pairs of points.
constexpr std::string_view cpu_near_leaf_seconds = "fmm.cpu.near_leaf_seconds";
/// Of a number of the translations, which are made before the first sum of an order.
constexpr std::string_view cpu_operator_seconds = "fmm.cpu.operator_seconds";
} // namespace fmm_cost

} // namespace farfield
