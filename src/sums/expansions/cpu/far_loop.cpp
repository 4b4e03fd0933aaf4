// Multipole expansions of cells at points: targets in lanes, cells one after the other.
#include "backend/simd/value.h"
#include "math/pack.h"
#include "sums/expansions/cartesian.h"
#include "sums/expansions/cpu/lane_sums.h"
#include "sums/expansions/far_task.h"
#include "sums/kernels/inverse_distance.h"

#include <algorithm>

namespace farfield {
namespace {

/// In place of an order.
constexpr int monopoles = -1;

/// Cells that add up in the precision of the loop.
constexpr std::int64_t cells_a_sum = 128;

template <class T, int Fixed, bool Potential>
void add_far(const FarTask& task) {
    // two chains side by side where registers hold the sums of both
    using V = Pack<Value<T>, (vector_registers > 16 ? 2 : 1)>;
    using O = Ops<V>;
    static_assert(far_lanes % O::width == 0);
    constexpr auto factor = static_cast<T>(InversePower<V, 1>::factor);
    const auto* const places = static_cast<const T*>(task.places);
    const V softening2 = O::set(static_cast<T>(task.softening2));
    for (std::int64_t first = 0; first < task.cells; first += cells_a_sum) {
        const auto last = std::min(task.cells, first + cells_a_sum);
        for (std::int64_t i = 0; i < task.targets; i += O::width) {
            V x[3];
            for (int axis = 0; axis < 3; ++axis) x[axis] = O::load(static_cast<const T*>(task.x[axis]) + i);
            FarSums<V> sums{O::set(T(0)), {O::set(T(0)), O::set(T(0)), O::set(T(0))}};
            for (auto c = first; c < last; ++c) {
                const T* const place = places + 4 * c;
                V d[3];
                for (int axis = 0; axis < 3; ++axis) d[axis] = x[axis] - O::set(place[axis]);
                const V r2 = O::fma(d[0], d[0], O::fma(d[1], d[1], O::fma(d[2], d[2], softening2)));
                const V inverse = inverse_distance(r2) * O::set(factor);
                const auto* const numbers = static_cast<const T*>(task.numbers[c]);
                if constexpr (Fixed == monopoles)
                    add_monopole<Potential>(O::set(numbers[0]), d, inverse, sums);
                else
                    add_far_value<Fixed, Potential>(task.order, numbers, d, inverse, O::set(place[3]), sums);
            }
            const auto count = std::min<std::int64_t>(O::width, task.targets - i);
            if constexpr (Potential) add_lanes(sums.potential, count, task.potential_sums + i);
            for (int axis = 0; axis < 3; ++axis)
                add_lanes(sums.field[axis], count, task.field_sums[axis] + i);
        }
    }
}

template <class T, int Fixed>
void add_far(const FarTask& task) {
    if (task.potential)
        add_far<T, Fixed, true>(task);
    else
        add_far<T, Fixed, false>(task);
}

// Usual orders are unrolled.
template <class T>
void add_far(const FarTask& task) {
    switch (task.order) {
    case 0:
        return add_far<T, monopoles>(task);
    case 1:
        return add_far<T, 1>(task);
    case 2:
        return add_far<T, 2>(task);
    case 3:
        return add_far<T, 3>(task);
    case 4:
        return add_far<T, 4>(task);
    default:
        return add_far<T, 0>(task);
    }
}

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_far)(const farfield::FarTask* task) {
    if (task->wide)
        farfield::add_far<double>(*task);
    else
        farfield::add_far<float>(*task);
}
