// Transfers: strided reads and writes between callers' arrays and the GPU.
#include "base/arrays.h"
#include "base/spelling.h"
#include "sums/direct/cuda/rung_sum.cuh"
#include "sums/direct/cuda/transfers.cuh"

#include <farfield/error.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace farfield::cuda {

namespace {

constexpr unsigned most_read_blocks = 528; // four for each multiprocessor of today's largest GPUs

void wait(cudaStream_t stream) { check(cudaStreamSynchronize(stream), "waiting for the GPU"); }

template <class T>
void launch_read(const ReadTask<T>& task, int columns, unsigned blocks, cudaStream_t stream) {
    if (columns == 3)
        read_kernel<T, 3><<<blocks, layout_threads, 0, stream>>>(task);
    else if (columns == 2)
        read_kernel<T, 2><<<blocks, layout_threads, 0, stream>>>(task);
    else
        read_kernel<T, 1><<<blocks, layout_threads, 0, stream>>>(task);
    check_launch("reading an array");
}

ReadResult merged(std::span<const Bounds> bounds) {
    ReadResult result;
    auto bad = none_bad;
    for (const auto& block : bounds) {
        for (std::size_t k = 0; k < 3; ++k) {
            result.ranges[k].low = std::min(result.ranges[k].low, block.low[k]);
            result.ranges[k].high = std::max(result.ranges[k].high, block.high[k]);
        }
        bad = std::min(bad, block.bad);
    }
    result.bad = bad == none_bad ? -1 : static_cast<long long>(bad);
    return result;
}

} // namespace

void Transfers::check_device(const ConstArrayView& view, std::string_view what) const {
    if (view.device.type == DeviceType::cpu || view.device.index == device_) return;
    const auto own = "cuda:" + std::to_string(view.device.index);
    throw InvalidArgument(std::string(what) + ": the array is on " + own +
                          ", but the sum runs on cuda:" + std::to_string(device_) +
                          "; copy the array there or ask for " + spelled("device", own));
}

ReadResult Transfers::read(const ConstArrayView& view, long long rows, int columns, double* out,
                           std::string_view what, cudaStream_t stream, int out_row) {
    check_device(view, what);
    if (rows == 0) return {};
    ConstArrayView there = view; // where the kernel reads
    std::vector<double> gathered;
    if (view.device.type == DeviceType::cpu) {
        const void* host = view.data;
        if (!is_contiguous(view, rows, columns)) {
            gathered = copy_of(view, rows, columns);
            host = gathered.data();
            there.dtype = DType::float64;
        }
        const auto bytes = static_cast<std::size_t>(rows * columns) * size_of(there.dtype);
        if (staging_.size() < bytes) {
            staging_ = {};
            staging_ = DeviceArray<std::byte>(bytes);
        }
        copy(staging_.data(), static_cast<const std::byte*>(host), bytes, stream);
        there.data = staging_.data();
        there.strides = {columns, 1};
    }
    const auto blocks = std::min(layout_blocks(rows), most_read_blocks);
    if (bounds_.size() < blocks) {
        seen_bounds_ = PinnedArray<Bounds>(blocks);
        bounds_ = DeviceArray<Bounds>(blocks);
    }
    const auto launch = [&]<class T>(const T* data) {
        launch_read(ReadTask<T>{data, there.strides[0], there.strides[1], rows, out,
                                out_row > 0 ? out_row : columns, bounds_.data()},
                    columns, blocks, stream);
    };
    if (there.dtype == DType::float32)
        launch(static_cast<const float*>(there.data));
    else
        launch(static_cast<const double*>(there.data));
    copy(seen_bounds_.data(), bounds_.data(), blocks, stream);
    wait(stream);
    auto result = merged({seen_bounds_.data(), blocks});
    if (result.bad >= 0) {
        copy(&result.bad_value, out + result.bad, 1, stream);
        wait(stream);
    }
    return result;
}

void Transfers::write(const double* values, const ArrayView& view, long long rows, int columns,
                      cudaStream_t stream) {
    if (rows == 0) return;
    const auto count = static_cast<std::size_t>(rows * columns);
    if (view.device.type == DeviceType::cpu) {
        const bool direct = view.dtype == DType::float64 && is_contiguous(view, rows, columns);
        std::vector<double> host(direct ? 0 : count);
        copy(direct ? static_cast<double*>(view.data) : host.data(), values, count, stream);
        wait(stream);
        if (!direct) write_values(view, host.data(), rows, columns);
        return;
    }
    const auto launch = [&](auto* data) {
        write_kernel<<<layout_blocks(rows * columns), layout_threads, 0, stream>>>(
            values, data, view.strides[0], view.strides[1], rows, columns);
        check_launch("writing results");
    };
    if (view.dtype == DType::float32)
        launch(static_cast<float*>(view.data));
    else
        launch(static_cast<double*>(view.data));
    wait(stream);
}

} // namespace farfield::cuda
