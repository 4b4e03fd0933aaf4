#include "backend/cuda/host_buffer.h"

#include "backend/cuda/memory.h"

namespace farfield::cuda {

struct HostBuffer::Impl {
    PinnedArray<double> memory;
};

HostBuffer::HostBuffer(std::size_t size) : impl_(std::make_unique<Impl>()) {
    impl_->memory = PinnedArray<double>(size);
}
HostBuffer::HostBuffer(HostBuffer&&) noexcept = default;
HostBuffer& HostBuffer::operator=(HostBuffer&&) noexcept = default;
HostBuffer::~HostBuffer() = default;

std::span<double> HostBuffer::values() const { return {impl_->memory.data(), impl_->memory.size()}; }

} // namespace farfield::cuda
