// A build without CUDA: nothing is pinned.
#include "backend/cuda/devices.h"
#include "backend/cuda/host_buffer.h"

#include <farfield/error.h>

namespace farfield::cuda {

struct HostBuffer::Impl {};

HostBuffer::HostBuffer(std::size_t /*size*/) { throw BackendUnavailable(why_no_device()); }
HostBuffer::HostBuffer(HostBuffer&&) noexcept = default;
HostBuffer& HostBuffer::operator=(HostBuffer&&) noexcept = default;
HostBuffer::~HostBuffer() = default;
std::span<double> HostBuffer::values() const { return {}; }

} // namespace farfield::cuda
