// ResidentArray in a build with CUDA.
#include "backend/cuda/resident_array.h"

#include "backend/cuda/device_scope.h"
#include "backend/cuda/memory.h"

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

} // namespace farfield::cuda
