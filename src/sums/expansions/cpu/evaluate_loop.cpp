// Expansions at points: the functions of the basis at the points, in lanes, times the coefficients.
#include "backend/simd/value.h"
#include "sums/expansions/function_values.h"

namespace farfield {
namespace {

template <Functions Kind, class T, int Sets>
void evaluate(const EvaluateTask& task) {
    using V = Value<T>;
    using O = Ops<V>;
    const auto* x = static_cast<const T*>(task.points.x[0]);
    const auto* y = static_cast<const T*>(task.points.x[1]);
    const auto* z = static_cast<const T*>(task.points.x[2]);
    const auto* coefficients = static_cast<const T*>(task.coefficients);
    for (std::int64_t i = 0; i < task.points.count; i += O::width) {
        V sums[Sets];
        for (auto& sum : sums) sum = O::set(T(0));
        each_function<Kind, V>(task.functions, O::load(x + i), O::load(y + i), O::load(z + i),
                               [&](int t, const V& first, const V& second) FF_INLINE_LAMBDA {
                                   const T* const c = coefficients + 2 * t * Sets;
                                   for (int k = 0; k < Sets; ++k) {
                                       sums[k] = O::fma(O::set(c[k]), first, sums[k]);
                                       sums[k] = O::fma(O::set(c[Sets + k]), second, sums[k]);
                                   }
                               });
        for (int k = 0; k < Sets; ++k) O::store(static_cast<T*>(task.values[k]) + i, sums[k]);
    }
}

template <Functions Kind, class T>
void evaluate(const EvaluateTask& task) {
    if (task.sets == 1)
        evaluate<Kind, T, 1>(task);
    else
        evaluate<Kind, T, 4>(task);
}

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_evaluate)(const farfield::EvaluateTask* task) {
    farfield::with_functions(
        task->functions, [&]<farfield::Functions Kind, class T>() { farfield::evaluate<Kind, T>(*task); });
}
