// Messages for what a sum on several GPUs does not take.
#include "sums/direct/cuda/several/arguments.h"

#include <farfield/error.h>

namespace farfield::cuda {

void require_host_here(const ConstArrayView& view, const std::string& what) {
    if (view.device.type != DeviceType::cpu)
        throw InvalidArgument(
            what + ": the array is on cuda:" + std::to_string(view.device.index) +
            ", but a sum on several GPUs takes arrays of the host; copy it there, or name one GPU");
}

void require_own_streams(const SumOptions& options) {
    if (options.stream != nullptr)
        throw InvalidArgument(
            "a sum on several GPUs has streams of its own; leave the stream out or name one GPU");
}

} // namespace farfield::cuda
