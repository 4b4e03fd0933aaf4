// Loops over arrays of values that stay in registers.
#pragma once

#include "math/ops.h"

#include <type_traits>
#include <utility>

namespace farfield {
namespace {

/// f(0) … f(N − 1) with constants.
template <int N, class F>
FF_INLINE void unrolled(const F& f) {
    [&]<int... I>(std::integer_sequence<int, I...>) FF_INLINE_LAMBDA {
        (f(std::integral_constant<int, I>{}), ...);
    }
    (std::make_integer_sequence<int, N>{});
}

} // namespace
} // namespace farfield
