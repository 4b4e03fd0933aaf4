// Arrays of any memory as contiguous host memory, without a CUDA header.
#pragma once

#include <farfield/array.h>

#include <cstdint>
#include <vector>

namespace farfield::cuda {

/// Row-major copy of a checked view of the host or of a GPU; waits for what is queued on the GPU's default
/// stream. @throws DeviceError.
std::vector<double> host_copy(const ConstArrayView& view, std::int64_t rows, std::int64_t columns);

} // namespace farfield::cuda
