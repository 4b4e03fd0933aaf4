// Which class computes a plan's sum on GPUs.
#include "sums/direct/cuda/sum/gpu_sum.h"

#include "sums/direct/cuda/one_gpu.cuh"
#include "sums/direct/cuda/several/several_gpus.h"
#include "sums/direct/cuda/several/shared_targets.h"

namespace farfield::cuda {

std::unique_ptr<PreparedSum> make_gpu_sum(const SumOptions& options, const std::vector<int>& devices,
                                          bool self) {
    const bool alone = devices.size() == 1 && options.communicator.size() == 1;
    if (alone) return std::make_unique<OneGpu>(options, devices.front(), self);
    return self ? make_several_gpus(options, devices) : make_shared_targets(options, devices);
}

} // namespace farfield::cuda
