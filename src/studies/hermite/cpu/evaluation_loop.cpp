// Our evaluation on a CPU: a few vectors of targets at a time meet one cluster after the other. A coefficient
// serves all of them.
#include "backend/simd/value.h"
#include "studies/hermite/cpu/evaluation_task.h"
#include "studies/hermite/powers.h"
#include "sums/kernels/gauss_term.h"

#include <algorithm>

namespace farfield::hermite {
namespace {

using V = Value<float>;
constexpr int vectors = vector_registers / 8; ///< each keeps two coordinates and three sums in registers
using P = Pack<V, vectors>;
constexpr int lanes = Ops<P>::width;

template <int p>
FF_INLINE P potential_of(const EvaluationTask& task, const GaussTerm<V, vectors>& gaussian, const P& x,
                         const P& y) {
    P sum = Ops<P>::set(0.0F);
    const float* powers = task.powers;
    const float* centre = task.centres;
    for (int cluster = 0; cluster < task.clusters; ++cluster, powers += powers_of(p), centre += 2) {
        const P t = x - Ops<P>::set(centre[0]);
        const P u = y - Ops<P>::set(centre[1]);
        const P value = polynomial<p>(t, u, [&](int i) FF_INLINE_LAMBDA { return Ops<P>::set(powers[i]); });
        sum = Ops<P>::fma(value, gaussian(Ops<P>::fma(t, t, u * u)), sum);
    }
    return sum;
}

template <int p>
void evaluate(const EvaluationTask& task) {
    const GaussTerm<V, vectors> gaussian(task.sigma);
    auto i = task.begin;
    for (; i + lanes <= task.end; i += lanes)
        Ops<P>::store(task.potentials + i,
                      potential_of<p>(task, gaussian, Ops<P>::load(task.x + i), Ops<P>::load(task.y + i)));
    if (i == task.end) return;
    float x[lanes] = {}, y[lanes] = {}, potentials[lanes];
    std::copy(task.x + i, task.x + task.end, x);
    std::copy(task.y + i, task.y + task.end, y);
    Ops<P>::store(potentials, potential_of<p>(task, gaussian, Ops<P>::load(x), Ops<P>::load(y)));
    std::copy(potentials, potentials + (task.end - i), task.potentials + i);
}

} // namespace
} // namespace farfield::hermite

extern "C" void FF_ISA_ENTRY(ff_hermite_evaluation)(const farfield::hermite::EvaluationTask* task) {
    if (task->terms == 5) farfield::hermite::evaluate<5>(*task);
    if (task->terms == 9) farfield::hermite::evaluate<9>(*task);
    if (task->terms == 12) farfield::hermite::evaluate<12>(*task);
}
