#include "sums/lattice/images/cuda/device_rim.cuh"

#include "sums/tree/cuda/launch.cuh"

#include <farfield/error.h>

#include <cub/device/device_scan.cuh>

#include <string>

namespace farfield::cuda {
namespace {

/// As many as a sum takes.
constexpr std::int64_t most_images = (std::int64_t{1} << 31) - (std::int64_t{1} << 20);

/// The images of a point, n periods away along each axis.
struct NearImages {
    int first[3], last[3];

    __device__ NearImages(const GridView& grid, const double* point) {
        for (int k = 0; k < 3; ++k) {
            const int cell = grid.axes[k].cell_of(point[k]);
            first[k] = grid.axes[k].first_near(cell);
            last[k] = grid.axes[k].last_near(cell);
        }
    }
    /// But the point itself.
    [[nodiscard]] __device__ int count() const {
        int product = 1;
        for (int k = 0; k < 3; ++k) product *= last[k] - first[k] + 1;
        return product - 1;
    }
};

__global__ void count_kernel(GridView grid, const double* points, std::int64_t n, std::int64_t* counts) {
    const auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i > n) return;
    counts[i] = i < n ? NearImages(grid, points + 3 * i).count() : 0;
}

__global__ void place_kernel(GridView grid, const double* points, std::int64_t n, const std::int64_t* first,
                             double* images, std::int32_t* of) {
    const auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const double* const at = points + 3 * i;
    const NearImages near(grid, at);
    auto place = first[i];
    for (int z = near.first[2]; z <= near.last[2]; ++z)
        for (int y = near.first[1]; y <= near.last[1]; ++y)
            for (int x = near.first[0]; x <= near.last[0]; ++x) {
                if (x == 0 && y == 0 && z == 0) continue;
                images[3 * place] = at[0] + x * grid.axes[0].period;
                images[3 * place + 1] = at[1] + y * grid.axes[1].period;
                images[3 * place + 2] = at[2] + z * grid.axes[2].period;
                of[place++] = static_cast<std::int32_t>(i);
            }
}

__global__ void strengths_kernel(const double* strengths, const std::int32_t* of, std::int64_t n,
                                 double* out) {
    const auto j = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (j < n) out[j] = strengths[of[j]];
}

} // namespace

void DeviceRim::select(const GridView& grid, const double* points, std::int64_t n, cudaStream_t stream) {
    count_ = 0;
    if (n == 0) return;
    const auto size = static_cast<std::size_t>(n) + 1;
    make_room(counts_, size);
    make_room(first_, size);
    launch_over(n + 1, stream, count_kernel, grid, points, n, counts_.data());
    std::size_t bytes = 0;
    const auto scan = [&](void* memory) {
        check(cub::DeviceScan::ExclusiveSum(memory, bytes, counts_.data(), first_.data(),
                                            static_cast<int>(size), stream),
              "counting near images");
    };
    scan(nullptr);
    scan(workspace_.reserve(bytes));
    std::int64_t count = 0;
    copy(&count, static_cast<const std::int64_t*>(first_.data() + n), 1, stream);
    check(cudaStreamSynchronize(stream), "waiting for the GPU");
    if (count >= most_images)
        throw InvalidArgument("sources: their near images are " + std::to_string(count) +
                              " points, more than a sum on a GPU takes; use fewer points");
    // in a simulation their number changes a little from step to step
    const auto room = static_cast<std::size_t>(count);
    make_room(points_, 3 * room, 3 * (room / 64));
    make_room(of_, room, room / 64);
    launch_over(n, stream, place_kernel, grid, points, n, static_cast<const std::int64_t*>(first_.data()),
                points_.data(), of_.data());
    count_ = count;
}

void DeviceRim::take_strengths(const double* strengths, cudaStream_t stream) {
    const auto room = static_cast<std::size_t>(count_);
    make_room(strengths_, room, room / 64);
    launch_over(count_, stream, strengths_kernel, strengths, static_cast<const std::int32_t*>(of_.data()),
                count_, strengths_.data());
}

} // namespace farfield::cuda
