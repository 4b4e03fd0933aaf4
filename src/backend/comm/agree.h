// What one rank does for all, or all do alike, so that a failure is one error of the job: every rank throws
// it, and none waits for a rank that has left.
#pragma once

#include "backend/comm/transport.h"

#include <functional>

namespace farfield::comm {

/// Rank 0 does it; where it throws, all ranks throw an error of the same class and words.
void on_root(Transport& transport, const std::function<void()>& work);
/// Every rank does it; where some throw, all ranks throw the error of the lowest such rank.
void together(Transport& transport, const std::function<void()>& work);

} // namespace farfield::comm
