// How many threads a sum on the CPU takes: by default all of them, or one where the sum is so short that
// another costs more than it gains. By the cost table; results have the same bits for any number.
#pragma once

#include "sums/costs/cost_table.h"

#include <string_view>

namespace farfield {

/// What it takes until another thread takes part.
constexpr std::string_view cpu_thread_seconds = "cpu.thread_seconds";

/// `all` where a second thread saves more than `thread_seconds` of the `seconds` that one takes alone.
int threads_that_gain(double seconds, double thread_seconds, int all);

/// `requested`, or for 0 those of this process that gain; `seconds` as above.
int threads_for(int requested, double seconds, const CostTable& table);

} // namespace farfield
