// Copies in a build with CUDA: the stretch of memory that the view lies in, then its elements.
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

void wait_for_stream(void* stream) {
    if (stream != nullptr)
        check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "waiting for the GPU");
}

void write_anywhere(const ArrayView& view, const double* values, std::int64_t rows, std::int64_t columns) {
    if (view.device.type != DeviceType::cuda || rows == 0) return write_values(view, values, rows, columns);
    const DeviceScope scope(view.device.index);
    const Stretch stretch(view, rows, columns);
    auto* const begin =
        static_cast<std::byte*>(view.data) - (static_cast<const std::byte*>(view.data) - stretch.begin);
    std::vector<std::byte> bytes(stretch.bytes); // what lies between rows stays
    check(cudaMemcpy(bytes.data(), begin, bytes.size(), cudaMemcpyDeviceToHost), "copying from the GPU");
    auto copied = view;
    copied.data = bytes.data() + (static_cast<std::byte*>(view.data) - begin);
    copied.device = {};
    write_values(copied, values, rows, columns);
    check(cudaMemcpy(begin, bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "copying to the GPU");
    check(cudaDeviceSynchronize(), "copying to the GPU"); // the last of it may still be under way
}

void copy_anywhere(std::span<std::byte> to, std::span<const std::byte> from) {
    if (to.empty()) return;
    check(cudaMemcpy(to.data(), from.data(), to.size(), cudaMemcpyDefault), "copying to or from the GPU");
    check(cudaDeviceSynchronize(), "copying to or from the GPU"); // GPU to GPU may still be under way
}

} // namespace farfield::cuda
