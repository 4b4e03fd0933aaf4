// A warp takes a leaf, each lane a point at a time.
#include "sums/tree/cuda/leaf_points.cuh"

#include "backend/cuda/check.h"

namespace farfield::cuda {
namespace {

constexpr unsigned centre_warps = 8;

template <class Real>
__global__ void __launch_bounds__(32 * centre_warps) centre_kernel(const CentreTask<Real> task) {
    const int number = static_cast<int>(blockIdx.x * centre_warps + threadIdx.x / 32);
    if (number >= task.count) return;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const auto leaf = task.leaves[number];
    const auto& place = task.tree.places[leaf];
    const double centre[3] = {task.tree.centre(place, 0), task.tree.centre(place, 1),
                              task.tree.centre(place, 2)};
    const auto range = task.of_targets ? task.tree.targets[leaf] : task.tree.sources[leaf];
    for (int i = range.begin + lane; i < range.end; i += 32) {
        const auto p = task.points[i];
        task.out[i] = {static_cast<Real>(p.x - centre[0]), static_cast<Real>(p.y - centre[1]),
                       static_cast<Real>(p.z - centre[2]), static_cast<Real>(p.w)};
    }
    if (lane != 0) return;
    task.centres[number] = {centre[0], centre[1], centre[2], task.tree.width_of(place.level)};
    task.ranges[number] = range;
}

template <class Real>
__global__ void __launch_bounds__(32 * centre_warps) only_centres_kernel(const CentreTask<Real> task) {
    const int number = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (number >= task.count) return;
    const auto leaf = task.leaves[number];
    const auto& place = task.tree.places[leaf];
    task.centres[number] = {task.tree.centre(place, 0), task.tree.centre(place, 1),
                            task.tree.centre(place, 2), task.tree.width_of(place.level)};
    task.ranges[number] = task.of_targets ? task.tree.targets[leaf] : task.tree.sources[leaf];
}

} // namespace

template <class Real>
void centre_points(const CentreTask<Real>& task, cudaStream_t stream) {
    if (task.count == 0) return;
    constexpr unsigned threads = 32 * centre_warps;
    const unsigned work = static_cast<unsigned>(task.count) * (task.out != nullptr ? 32 : 1);
    const unsigned blocks = (work + threads - 1) / threads;
    if (task.out != nullptr)
        centre_kernel<Real><<<blocks, threads, 0, stream>>>(task);
    else
        only_centres_kernel<Real><<<blocks, threads, 0, stream>>>(task);
    check_launch("centring points");
}

template void centre_points(const CentreTask<float>&, cudaStream_t);
template void centre_points(const CentreTask<double>&, cudaStream_t);

} // namespace farfield::cuda
