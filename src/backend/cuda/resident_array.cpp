// ResidentArray in a build with CUDA.
#include "backend/cuda/resident_array.h"

#include "backend/cuda/device_scope.h"
#include "backend/cuda/memory.h"
#include "backend/cuda/stretch.h"

namespace farfield::cuda {

ResidentArray::ResidentArray(std::span<const double> values, std::int64_t columns, int gpu)
    : rows_(static_cast<std::int64_t>(values.size()) / columns), columns_(columns), gpu_(gpu) {
    const DeviceScope scope(gpu);
    const auto memory = std::make_shared<DeviceArray<double>>(values.size());
    copy(memory->data(), values.data(), values.size(), nullptr);
    check(cudaStreamSynchronize(nullptr), "waiting for the GPU");
    memory_ = {memory, memory->data()};
}

ArrayView ResidentArray::view() const {
    ArrayView out(memory_.get(), DType::float64, {rows_, columns_});
    out.device = {DeviceType::cuda, gpu_};
    return out;
}

void ResidentCopy::take(const ConstArrayView& view, std::int64_t rows, std::int64_t columns, void* stream) {
    const DeviceScope scope(view.device.index);
    const Stretch stretch(view, rows, columns);
    if (size_ < stretch.bytes || view_.device.index != view.device.index) {
        size_ = 0;
        memory_ = {};
        const auto memory = std::make_shared<DeviceArray<std::byte>>(stretch.bytes);
        memory_ = {memory, memory->data()};
        size_ = stretch.bytes;
    }
    copy(memory_.get(), stretch.begin, stretch.bytes,
         stream != nullptr ? static_cast<cudaStream_t>(stream) : cudaStreamLegacy);
    view_ = stretch.moved_to(memory_.get(), view);
}

} // namespace farfield::cuda
