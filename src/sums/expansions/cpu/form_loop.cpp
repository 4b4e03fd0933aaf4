// Expansions from points: the functions of the basis at the points, in lanes, times their weights.
#include "backend/simd/value.h"
#include "sums/expansions/function_values.h"

namespace farfield {
namespace {

template <Functions Kind, class T>
void form(const FormTask& task) {
    using V = Value<T>;
    using O = Ops<V>;
    constexpr int width = O::width;
    const int numbers = 2 * task.functions.pairs;
    auto* lanes = static_cast<T*>(task.scratch);
    for (int n = 0; n < numbers * width; n += width) O::store(lanes + n, O::set(T(0)));
    const auto* x = static_cast<const T*>(task.points.x[0]);
    const auto* y = static_cast<const T*>(task.points.x[1]);
    const auto* z = static_cast<const T*>(task.points.x[2]);
    const auto* weight = static_cast<const T*>(task.weight);
    for (std::int64_t i = 0; i < task.points.count; i += width) {
        const V w = O::load(weight + i);
        each_function<Kind, V>(task.functions, O::load(x + i), O::load(y + i), O::load(z + i),
                               [&](int t, const V& first, const V& second) FF_INLINE_LAMBDA {
                                   T* const sums = lanes + 2 * t * width;
                                   O::store(sums, O::fma(w, first, O::load(sums)));
                                   O::store(sums + width, O::fma(w, second, O::load(sums + width)));
                               });
    }
    auto* sums = static_cast<T*>(task.sums);
    for (int n = 0; n < numbers; ++n) sums[n] = O::sum(O::load(lanes + n * width));
}

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_form)(const farfield::FormTask* task) {
    farfield::with_functions(task->functions,
                             [&]<farfield::Functions Kind, class T>() { farfield::form<Kind, T>(*task); });
}
