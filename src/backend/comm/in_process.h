// Ranks that are threads of one process: the same calls as between processes, for tests and sanitizers.
#pragma once

#include "backend/comm/transport.h"

#include <functional>

namespace farfield::comm {

/// Calls work(transport) on `ranks` threads, each with its own end. Where one throws, the others' next calls
/// throw RankFailed; the first exception is thrown here once all have ended.
void run_ranks(int ranks, const std::function<void(Transport&)>& work);
/// The same for transports that outlive their calls. @param gpu_memory  messages may hold memory of a GPU
void run_ranks(int ranks, const std::function<void(std::shared_ptr<Transport>)>& work,
               bool gpu_memory = false);

} // namespace farfield::comm
