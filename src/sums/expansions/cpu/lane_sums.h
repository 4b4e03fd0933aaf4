// What loops over targets in lanes write.
#pragma once

#include "math/ops.h"

#include <cstdint>

namespace farfield {
namespace {

/// Adds the first `count` lanes to sums in double.
template <class V>
void add_lanes(const V& from, std::int64_t count, double* to) {
    typename Ops<V>::Scalar lanes[Ops<V>::width];
    Ops<V>::store(lanes, from);
    for (std::int64_t k = 0; k < count; ++k) to[k] += static_cast<double>(lanes[k]);
}

} // namespace
} // namespace farfield
