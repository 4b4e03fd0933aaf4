// Arrays in the memory of the current GPU, as tests fill them, pass them and read them back.
#pragma once

#include "backend/cuda/memory.h"
#include "backend/cuda/stream.h"

#include <farfield/array.h>

#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <vector>

namespace farfield::test {

template <class T>
cuda::DeviceArray<T> to_gpu(const std::vector<T>& values) {
    const cuda::Stream stream;
    cuda::DeviceArray<T> array(values.size());
    cuda::copy(array.data(), values.data(), values.size(), stream.get());
    stream.synchronize();
    return array;
}

template <class T>
std::vector<T> to_host(const cuda::DeviceArray<T>& array) {
    const cuda::Stream stream;
    std::vector<T> values(array.size());
    cuda::copy(values.data(), array.data(), values.size(), stream.get());
    stream.synchronize();
    return values;
}

/// Row-major.
template <class T>
ArrayView gpu_view(cuda::DeviceArray<T>& array, std::initializer_list<std::int64_t> shape) {
    int device = 0;
    cuda::check(cudaGetDevice(&device), "asking for the GPU");
    return {array.data(), std::is_same_v<T, float> ? DType::float32 : DType::float64, shape,
            Device{DeviceType::cuda, device}};
}

} // namespace farfield::test
