// Values of a local expansion: targets in lanes.
#include "backend/simd/value.h"
#include "sums/expansions/cpu/lane_sums.h"
#include "sums/expansions/local.h"
#include "sums/expansions/local_task.h"

#include <algorithm>

namespace farfield {
namespace {

template <class T, bool Potential>
void add_values(const LocalValuesTask& task) {
    using V = Value<T>;
    using O = Ops<V>;
    static_assert(local_lanes % O::width == 0);
    constexpr int degrees = local_order + (Potential ? 1 : 0);
    const auto* const of_potential = static_cast<const T*>(task.numbers);
    const auto* const of_field = of_potential + local_numbers;
    for (std::int64_t i = 0; i < task.targets; i += O::width) {
        V s[3];
        for (int axis = 0; axis < 3; ++axis) s[axis] = O::load(static_cast<const T*>(task.s[axis]) + i);
        V monomials[monomials_below(degrees)];
        set_monomials(degrees, s[0], s[1], s[2], monomials);
        V field[3] = {O::set(T(0)), O::set(T(0)), O::set(T(0))};
        FF_UNROLL_16
        for (int k = 0; k < monomials_below(local_order); ++k)
            for (int axis = 0; axis < 3; ++axis)
                field[axis] = O::fma(O::set(of_field[3 * k + axis]), monomials[k], field[axis]);
        const auto count = std::min<std::int64_t>(O::width, task.targets - i);
        for (int axis = 0; axis < 3; ++axis) add_lanes(field[axis], count, task.field_sums[axis] + i);
        if constexpr (Potential) {
            V potential = O::set(T(0));
            FF_UNROLL_16
            for (int k = 0; k < local_numbers; ++k)
                potential = O::fma(O::set(of_potential[k]), monomials[k], potential);
            add_lanes(potential, count, task.potential_sums + i);
        }
    }
}

template <class T>
void add_values(const LocalValuesTask& task) {
    if (task.potential)
        add_values<T, true>(task);
    else
        add_values<T, false>(task);
}

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_local_values)(const farfield::LocalValuesTask* task) {
    if (task->wide)
        farfield::add_values<double>(*task);
    else
        farfield::add_values<float>(*task);
}
