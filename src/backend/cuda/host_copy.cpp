// host_copy in a build with CUDA: the stretch of memory that the view lies in, then its elements.
#include "backend/cuda/host_copy.h"

#include "backend/cuda/check.h"
#include "backend/cuda/device_scope.h"
#include "base/arrays.h"

#include <algorithm>

namespace farfield::cuda {

std::vector<double> host_copy(const ConstArrayView& view, std::int64_t rows, std::int64_t columns) {
    if (view.device.type != DeviceType::cuda || rows == 0) return copy_of(view, rows, columns);
    const DeviceScope scope(view.device.index);
    const auto row_span = (rows - 1) * view.strides[0];
    const auto column_span = (columns - 1) * view.strides[1];
    const auto first = std::min<std::int64_t>(row_span, 0) + std::min<std::int64_t>(column_span, 0);
    const auto last = std::max<std::int64_t>(row_span, 0) + std::max<std::int64_t>(column_span, 0);
    const auto size = size_of(view.dtype);
    std::vector<std::byte> bytes(static_cast<std::size_t>(last - first + 1) * size);
    const auto* from = static_cast<const std::byte*>(view.data) + first * static_cast<std::int64_t>(size);
    check(cudaMemcpy(bytes.data(), from, bytes.size(), cudaMemcpyDeviceToHost), "copying from the GPU");
    auto copied = view;
    copied.device = {};
    copied.data = bytes.data() - first * static_cast<std::int64_t>(size);
    return copy_of(copied, rows, columns);
}

} // namespace farfield::cuda
