// A build without CUDA: GpuSum says so.
#include "backend/cuda/devices.h"
#include "sums/direct/cuda/gpu_sum.h"

#include <farfield/error.h>

namespace farfield::cuda {

GpuSum::GpuSum(const SumOptions&, const std::vector<int>&, bool) {
    throw BackendUnavailable(why_no_device());
}
GpuSum::GpuSum(GpuSum&&) noexcept = default;
GpuSum& GpuSum::operator=(GpuSum&&) noexcept = default;
GpuSum::~GpuSum() = default;
void GpuSum::set_points(const ConstArrayView&, const ConstArrayView&) {}
void GpuSum::compute(const ConstArrayView&, const SumOutputs&, SumReport&) {}

} // namespace farfield::cuda
