// The functions of an axis that boxes' expansions are made of, for packs of points: include it only in
// sources compiled for one instruction set.
#pragma once

#include "backend/simd/value.h"
#include "math/pack.h"
#include "sums/gauss/boxes/box_tasks.h"

namespace farfield {

/// He_n(v)/√n!, that is ψ_n(v)/ψ_0(v), for n < count.
template <class P>
FF_INLINE void box_hermites(const P& v, int count, const BoxRoots& roots, P* out) {
    using O = Ops<P>;
    P before = O::set(0.0), now = O::set(1.0);
    for (int n = 0; n < count; ++n) {
        out[n] = now;
        const P next = O::fnma(O::set(roots.ratio[n]), before, v * now * O::set(roots.inverse[n]));
        before = now;
        now = next;
    }
}

/// μ_n(u) for n < count.
template <class P>
FF_INLINE void box_powers(const P& u, int count, const BoxRoots& roots, P* out) {
    using O = Ops<P>;
    P now = O::set(1.0);
    for (int n = 0; n < count; ++n) {
        out[n] = now;
        now = now * (u * O::set(roots.inverse[n]));
    }
}

} // namespace farfield
