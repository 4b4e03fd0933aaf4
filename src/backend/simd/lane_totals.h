// Sums of a loop's lanes, added to totals in double. This happens once in hundreds of terms, so it is
// compiled once for all the forms of a loop: where each had a copy of its own, sources took twice as long to
// compile.
#pragma once

#include <cstdint>

namespace farfield {
namespace {

/// totals[i] += factor · sums[i] for i < count.
template <class T>
[[gnu::noinline]] void add_scaled(const T* sums, double factor, std::int64_t count, double* totals) {
    for (std::int64_t i = 0; i < count; ++i) totals[i] += factor * static_cast<double>(sums[i]);
}

} // namespace
} // namespace farfield
