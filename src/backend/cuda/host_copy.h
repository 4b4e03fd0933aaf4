// Arrays of any memory as contiguous host memory, without a CUDA header.
#pragma once

#include <farfield/array.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace farfield::cuda {

/// Row-major copy of a checked view of the host or of a GPU; waits for what is queued on the GPU's default
/// stream. @throws DeviceError.
std::vector<double> host_copy(const ConstArrayView& view, std::int64_t rows, std::int64_t columns);

/// Waits for what is queued on a stream of the caller's (SumOptions::stream); nothing for null. @throws
/// DeviceError.
void wait_for_stream(void* stream);

/// Writes row-major values into a checked view of the host or of a GPU. @throws DeviceError.
void write_anywhere(const ArrayView& view, const double* values, std::int64_t rows, std::int64_t columns);

/// Copies bytes, as many as `to` has, whichever of the two are the host's and a GPU's. @throws DeviceError.
void copy_anywhere(std::span<std::byte> to, std::span<const std::byte> from);

} // namespace farfield::cuda
