// Asks CUDA for the registers, shared memory and blocks of the rungs' kernels.
#include "backend/cuda/check.h"
#include "sums/direct/cuda/rung_kernel.cuh"
#include "sums/direct/cuda/rung_resources.h"

#include "base/spelling.h"

#include <farfield/error.h>

#include <string>
#include <type_traits>

namespace farfield::cuda {

namespace {

template <class PointType>
RungKernel kernel_of_points(Rung rung) {
    if (rung == Rung::register_tile) return register_tile_rung_kernel<PointType>();
    if (rung == Rung::symmetric) return symmetric_rung_kernel<PointType>();
    if constexpr (std::is_same_v<PointType, Point<float>>) {
        if (rung == Rung::tensor) return tensor_rung_kernel();
        if (rung >= Rung::float4) return handbook_kernel(rung);
    }
    if constexpr (!std::is_same_v<PointType, MixedPoint>)
        if (rung < Rung::float4) return ladder_kernel<typename PointType::real>(rung);
    throw InvalidArgument(spelled("variant", info_of(rung).name) + " has no such precision");
}

RungKernel kernel_of(Rung rung, Precision precision) {
    switch (precision) {
    case Precision::float32:
        return kernel_of_points<Point<float>>(rung);
    case Precision::mixed:
        return kernel_of_points<MixedPoint>(rung);
    default:
        return kernel_of_points<Point<double>>(rung);
    }
}

int attribute_of_device(cudaDeviceAttr which) {
    int device = 0, value = 0;
    check(cudaGetDevice(&device), "finding the current GPU");
    check(cudaDeviceGetAttribute(&value, which, device), "reading the properties of a GPU");
    return value;
}

} // namespace

RungResources rung_resources(Rung rung, Precision precision) {
    const auto kernel = kernel_of(rung, precision);
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel.function), "reading the properties of a kernel");
    if (kernel.dynamic_shared_bytes > 0)
        check(cudaFuncSetAttribute(kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   kernel.dynamic_shared_bytes),
              "preparing a kernel");
    RungResources found{.registers = attributes.numRegs,
                        .shared_bytes =
                            static_cast<int>(attributes.sharedSizeBytes) + kernel.dynamic_shared_bytes,
                        .local_bytes = static_cast<int>(attributes.localSizeBytes),
                        .threads = kernel.threads};
    check(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&found.blocks, kernel.function, kernel.threads,
                                                      static_cast<std::size_t>(kernel.dynamic_shared_bytes)),
        "counting the blocks of a kernel");
    return found;
}

MultiprocessorLimits multiprocessor_limits() {
    return {.threads = attribute_of_device(cudaDevAttrMaxThreadsPerMultiProcessor),
            .blocks = attribute_of_device(cudaDevAttrMaxBlocksPerMultiprocessor),
            .registers = attribute_of_device(cudaDevAttrMaxRegistersPerMultiprocessor),
            .shared_bytes = attribute_of_device(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
            .reserved_shared_bytes = attribute_of_device(cudaDevAttrReservedSharedMemoryPerBlock)};
}

} // namespace farfield::cuda
