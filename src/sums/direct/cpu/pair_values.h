// The pieces that the one-sided and the mutual pair loops share: positions over any value type, and the
// dispatch from run-time precision and outputs to a template.
#pragma once

#include "math/ops.h"
#include "sums/direct/cpu/tiles.h"
#include "sums/kernels/inverse_distance.h"

#include <type_traits>

namespace farfield {

/// A position; with `Mixed` each coordinate is an unevaluated sum high + low.
template <class V, bool Mixed>
struct Position {
    V high[3];
    V low[Mixed ? 3 : 1];
};

/// a − b, component by component. In mixed precision the difference of the high parts is exact for points
/// close together (Sterbenz), and that is where the low parts matter.
template <class V, bool Mixed>
FF_INLINE void subtract(const Position<V, Mixed>& a, const Position<V, Mixed>& b, V difference[3]) {
    for (int k = 2; k >= 0; --k) difference[k] = a.high[k] - b.high[k];
    if constexpr (Mixed)
        for (int k = 2; k >= 0; --k) difference[k] = difference[k] + (a.low[k] - b.low[k]);
}

/// The same of x and y alone.
template <class V, bool Mixed>
FF_INLINE void subtract_in_plane(const Position<V, Mixed>& a, const Position<V, Mixed>& b, V difference[2]) {
    for (int k = 0; k < 2; ++k) difference[k] = a.high[k] - b.high[k];
    if constexpr (Mixed)
        for (int k = 0; k < 2; ++k) difference[k] = difference[k] + (a.low[k] - b.low[k]);
}

/// d·d + ε².
template <class V>
FF_INLINE V square_distance(const V d[3], const V& softening2) {
    return Ops<V>::fma(d[0], d[0], Ops<V>::fma(d[1], d[1], Ops<V>::fma(d[2], d[2], softening2)));
}

/// Reads positions from prepared arrays; `Read` turns a pointer into a value.
template <class V, bool Mixed, class T, class Read>
FF_INLINE Position<V, Mixed> read_position(const TilePoints& points, std::int64_t index, Read read) {
    Position<V, Mixed> out; // NOLINT(*-member-init): filled below
    for (int k = 0; k < 3; ++k) {
        out.high[k] = read(static_cast<const T*>(points.high[k]) + index);
        if constexpr (Mixed) out.low[k] = read(static_cast<const T*>(points.low[k]) + index);
    }
    return out;
}

/// Calls body(T{}, bool_constant<mixed>, integral_constant<outputs>).
template <class Body>
void with_types(Precision precision, LoopOutputs outputs, Body body) {
    const auto with_outputs = [&](auto number, auto mixed) {
        if (outputs == potential_only) body(number, mixed, std::integral_constant<int, potential_only>{});
        if (outputs == field_only) body(number, mixed, std::integral_constant<int, field_only>{});
        if (outputs == field_and_potential)
            body(number, mixed, std::integral_constant<int, field_and_potential>{});
    };
    if (precision == Precision::float32) with_outputs(float{}, std::false_type{});
    if (precision == Precision::float64) with_outputs(double{}, std::false_type{});
    if (precision == Precision::mixed) with_outputs(float{}, std::true_type{});
}

} // namespace farfield
