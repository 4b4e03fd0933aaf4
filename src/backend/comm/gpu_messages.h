// Whether messages between ranks hold memory of their GPUs.
#pragma once

#include "backend/comm/transport.h"

#include <farfield/device.h>

namespace farfield::comm {

/// The same on all ranks. @throws BackendUnavailable on all where `on` is wanted and one of them cannot
bool sends_gpu_memory(Transport& ranks, MpiGpu wanted);

} // namespace farfield::comm
