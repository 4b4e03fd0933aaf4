// Sums over blocks in float, and the plan on the GPU.
#include "sums/direct/cuda/blocks/launch.cuh"

#include <vector>

namespace farfield::cuda {
namespace {

template <class T>
DeviceArray<T> on_device(const std::vector<T>& values, cudaStream_t stream) {
    DeviceArray<T> out(values.size());
    copy(out.data(), values.data(), values.size(), stream);
    return out;
}

} // namespace

DeviceBlockPlan::DeviceBlockPlan(const BlockPlan& plan, cudaStream_t stream)
    : items_(on_device(plan.items, stream)), slots_(on_device(plan.slots, stream)),
      incoming_(on_device(plan.incoming, stream)), incoming_first_(on_device(plan.incoming_first, stream)),
      shape_(plan.shape), mutual_(plan.mutual) {}

BlockPlanView DeviceBlockPlan::view() const {
    const auto blocks = static_cast<int>(incoming_first_.size());
    return {items_.data(),
            slots_.data(),
            incoming_.data(),
            incoming_first_.data(),
            static_cast<int>(items_.size()),
            blocks == 0 ? 0 : blocks - 1,
            shape_,
            mutual_};
}

template void launch_blocks(const BlockTask<float>&, const BlockPlanView&, Vec4<float>*, cudaStream_t);

} // namespace farfield::cuda
