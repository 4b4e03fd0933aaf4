// N×width numbers in the memory of the current GPU, as the benches of sums pass them.
#pragma once

#include "backend/cuda/memory.h"

#include <farfield/device.h>
#include <farfield/sum.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace farfield::bench {

class GpuRows {
public:
    GpuRows(std::size_t rows, std::int64_t width)
        : memory_(rows * static_cast<std::size_t>(width)), width_(width) {}
    GpuRows(const std::vector<double>& values, std::int64_t width)
        : GpuRows(values.size() / static_cast<std::size_t>(width), width) {
        cuda::copy(memory_.data(), values.data(), values.size(), nullptr);
        wait();
    }
    static void wait() { cuda::check(cudaDeviceSynchronize(), "waiting for the GPU"); }
    [[nodiscard]] ArrayView view() {
        ArrayView out(memory_.data(), DType::float64,
                      {static_cast<std::int64_t>(memory_.size()) / width_, width_});
        int device = 0;
        cuda::check(cudaGetDevice(&device), "asking for the GPU");
        out.device = {DeviceType::cuda, device};
        return out;
    }
    [[nodiscard]] std::vector<double> values() const {
        std::vector<double> out(memory_.size());
        cuda::copy(out.data(), memory_.data(), out.size(), nullptr);
        wait();
        return out;
    }

private:
    cuda::DeviceArray<double> memory_;
    std::int64_t width_;
};

} // namespace farfield::bench
