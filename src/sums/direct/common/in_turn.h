// Rows that are computed again, on threads, and judged one after the other.
#pragma once

#include "backend/threads/parallel.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace farfield {

/// Calls compute(k) for k < count, some on threads at a time, and judge(k) after each in their order: one
/// that is refused ends all.
template <class Compute, class Judge>
void in_turn(int threads, std::size_t count, const Compute& compute, const Judge& judge) {
    constexpr std::size_t at_once = 64;
    for (std::size_t begin = 0; begin < count; begin += at_once) {
        const auto part = std::min(at_once, count - begin);
        parallel_for(threads, static_cast<std::int64_t>(part),
                     [&](std::int64_t k) { compute(begin + static_cast<std::size_t>(k)); });
        for (std::size_t k = begin; k < begin + part; ++k) judge(k);
    }
}

} // namespace farfield
