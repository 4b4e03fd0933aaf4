#include "sums/costs/fmm_coefficients.h"

#include "sums/costs/cost_table.h"

#include <fmt/format.h>

namespace farfield {
namespace fmm_cost {
namespace {

std::string of_type(Isa isa, bool wide, std::string_view what) {
    return fmt::format("fmm.cpu.{}.{}.{}", cost_word(name_of(isa)), wide ? "double" : "float", what);
}

} // namespace

std::string cpu_multiply_adds_per_second(Isa isa, bool wide) {
    return of_type(isa, wide, "multiply_adds_per_second");
}

std::string cpu_rotated_work_per_second(Isa isa, bool wide) {
    return of_type(isa, wide, "rotated_work_per_second");
}

std::string cpu_block_work_per_second(Isa isa, bool wide) {
    return of_type(isa, wide, "block_work_per_second");
}

std::string cpu_functions_per_second(Isa isa, bool wide) {
    return of_type(isa, wide, "functions_per_second");
}

} // namespace fmm_cost

} // namespace farfield
