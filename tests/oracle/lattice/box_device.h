// Where sums in boxes run: these tests are compiled twice, for the CPU and as part of the GPU's.
#pragma once

#include "gpu/needs_gpu.h"

#include <farfield/device.h>

namespace farfield::test {

#if defined(FARFIELD_TESTS_ON_GPU)
constexpr DeviceKind device_kind = DeviceKind::cuda;
#define NEEDS_DEVICE() NEEDS_GPU()
#else
constexpr DeviceKind device_kind = DeviceKind::cpu;
#define NEEDS_DEVICE() static_cast<void>(0)
#endif

} // namespace farfield::test
