// host_copy in a build with CUDA: the stretch of memory that the view lies in, then its elements.
#include "backend/cuda/host_copy.h"

#include "backend/cuda/check.h"
#include "backend/cuda/device_scope.h"
#include "backend/cuda/stretch.h"
#include "base/arrays.h"

namespace farfield::cuda {

std::vector<double> host_copy(const ConstArrayView& view, std::int64_t rows, std::int64_t columns) {
    if (view.device.type != DeviceType::cuda || rows == 0) return copy_of(view, rows, columns);
    const DeviceScope scope(view.device.index);
    const Stretch stretch(view, rows, columns);
    std::vector<std::byte> bytes(stretch.bytes);
    check(cudaMemcpy(bytes.data(), stretch.begin, bytes.size(), cudaMemcpyDeviceToHost),
          "copying from the GPU");
    auto copied = stretch.moved_to(bytes.data(), view);
    copied.device = {};
    return copy_of(copied, rows, columns);
}

void copy_anywhere(std::span<std::byte> to, std::span<const std::byte> from) {
    if (to.empty()) return;
    check(cudaMemcpy(to.data(), from.data(), to.size(), cudaMemcpyDefault), "copying to or from the GPU");
    check(cudaDeviceSynchronize(), "copying to or from the GPU"); // GPU to GPU may still be under way
}

} // namespace farfield::cuda
