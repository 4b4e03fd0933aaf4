// Sums of local expansions: monopoles in lanes.
#include "backend/simd/value.h"
#include "sums/expansions/local.h"
#include "sums/expansions/local_task.h"
#include "sums/kernels/inverse_distance.h"

#include <algorithm>

namespace farfield {
namespace {

/// Monopoles that add up in the precision of the loop.
constexpr std::int64_t monopoles_a_sum = 1024;

template <class T>
void add_sums(const LocalSumsTask& task) {
    using V = Value<T>;
    using O = Ops<V>;
    static_assert(local_lanes % O::width == 0);
    const V factor = O::set(static_cast<T>(InversePower<V, 1>::factor));
    const V softening2 = O::set(static_cast<T>(task.softening2));
    const V unit = O::set(static_cast<T>(task.unit));
    const auto* const q = static_cast<const T*>(task.strength);
    for (std::int64_t first = 0; first < task.count; first += monopoles_a_sum) {
        const auto last = std::min(task.count, first + monopoles_a_sum);
        V sums[local_sums];
        for (auto& sum : sums) sum = O::set(T(0));
        for (auto i = first; i < last; i += O::width) {
            V d[3];
            for (int axis = 0; axis < 3; ++axis) d[axis] = O::load(static_cast<const T*>(task.d[axis]) + i);
            const V r2 = O::fma(d[0], d[0], O::fma(d[1], d[1], O::fma(d[2], d[2], softening2)));
            const V inverse = inverse_distance(r2) * factor;
            const V t = unit * inverse;
            const V step = t * inverse;
            V monomials[local_numbers];
            set_monomials(local_order + 1, d[0] * step, d[1] * step, d[2] * step, monomials);
            V weight = O::load(q + i) * inverse;
            const V t2 = t * t;
            V* to = sums;
            FF_UNROLL_8
            for (int j = 0; 2 * j <= local_order; ++j) {
                const int count = monomials_below(local_order - 2 * j + 1);
                FF_UNROLL_16
                for (int k = 0; k < count; ++k, ++to) *to = O::fma(weight, monomials[k], *to);
                weight = weight * t2;
            }
        }
        for (int k = 0; k < local_sums; ++k) task.sums[k] += static_cast<double>(O::sum(sums[k]));
    }
}

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_local_sums)(const farfield::LocalSumsTask* task) {
    if (task->wide)
        farfield::add_sums<double>(*task);
    else
        farfield::add_sums<float>(*task);
}
