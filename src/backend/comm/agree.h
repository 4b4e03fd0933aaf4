// What one rank does for all, or all do alike, so that a failure is one error of the job: every rank throws
// it, and none waits for a rank that has left.
#pragma once

#include "backend/comm/transport.h"

#include <functional>

namespace farfield::comm {

/// Rank 0 does it; where it throws, all ranks throw: rank 0 that error, the others one of the same class of
/// error.h and words.
void on_root(Transport& transport, const std::function<void()>& work);
/// Every rank does it; where some throw, all ranks throw the error of the lowest such rank: those that failed
/// with the same words their own.
void together(Transport& transport, const std::function<void()>& work);

// The same where there may be one rank alone: null.
inline void on_root(Transport* transport, const std::function<void()>& work) {
    return transport != nullptr ? on_root(*transport, work) : work();
}
inline void together(Transport* transport, const std::function<void()>& work) {
    return transport != nullptr ? together(*transport, work) : work();
}

} // namespace farfield::comm
