#include "sums/gauss/cuda/sorted_points.cuh"

#include "sums/tree/cuda/launch.cuh"

#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#include <bit>

namespace farfield::cuda {
namespace {

__device__ int thread_number() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

// Parameters that threads take by an index stay in place: a copy would be in memory, for each thread.
__global__ void cell_key_kernel(const double* points, int count, const __grid_constant__ GridPlacing placing,
                                std::uint64_t* keys, std::int32_t* numbers) {
    const int i = thread_number();
    if (i >= count) return;
    std::uint64_t key = 0;
    for (int k = 0; k < placing.dimension; ++k)
        key = key * static_cast<std::uint64_t>(placing.length[k]) +
              static_cast<std::uint64_t>(
                  placed(placing, k, points[static_cast<std::int64_t>(placing.dimension) * i + k]).cell);
    keys[i] = key;
    numbers[i] = i;
}

struct CellInSpace {
    PlacedCoordinate at[3];

    __device__ CellInSpace(const GridPlacing& placing, const double* point)
        : at{placed(placing, 0, point[0]), placed(placing, 1, point[1]), placed(placing, 2, point[2])} {}
};

__global__ void column_key_kernel(const double* points, int count, GridPlacing placing, GridColumns columns,
                                  std::uint64_t* keys, std::int32_t* numbers) {
    const int i = thread_number();
    if (i >= count) return;
    const CellInSpace cell(placing, points + std::int64_t{3} * i);
    keys[i] = static_cast<std::uint64_t>(
        columns.plane(cell.at[0].cell / column_side, cell.at[1].cell / column_side, cell.at[2].cell));
    numbers[i] = i;
}

template <class Real>
__global__ void place_in_columns_kernel(const double* points, const std::int32_t* from, int count,
                                        GridPlacing placing, GridPoint<Real>* out) {
    const int i = thread_number();
    if (i >= count) return;
    const CellInSpace cell(placing, points + std::int64_t{3} * from[i]);
    GridPoint<Real> at{};
    for (int k = 0; k < 3; ++k) at.u[k] = static_cast<Real>(cell.at[k].u);
    at.place = CellInColumn::packed(cell.at[0].cell, cell.at[1].cell, cell.at[2].cell);
    out[i] = at;
}

/// The first of sorted keys that is not below the thread's number.
__global__ void plane_start_kernel(const std::uint64_t* keys, int count, int planes, std::int32_t* starts) {
    const int plane = thread_number();
    if (plane > planes) return;
    int low = 0, left = count;
    while (left > 0) {
        const int half = left / 2;
        const bool below = keys[low + half] < static_cast<std::uint64_t>(plane);
        low = below ? low + half + 1 : low;
        left = below ? left - half - 1 : half;
    }
    starts[plane] = low;
}

__global__ void most_of_a_walk_kernel(const std::int32_t* starts, GridColumns columns, int walks,
                                      std::int32_t* most) {
    const int walk = thread_number();
    if (walk >= walks) return;
    const int of_column = (columns.planes + planes_of_a_walk - 1) / planes_of_a_walk;
    const int column = walk / of_column, first = walk % of_column * planes_of_a_walk;
    const int end = min(columns.planes, first + planes_of_a_walk);
    atomicMax(most, starts[column * columns.planes + end] - starts[column * columns.planes + first]);
}

__global__ void count_keys_kernel(const std::uint64_t* keys, int count, unsigned long long* found) {
    const int i = thread_number();
    if (i < count && (i == 0 || keys[i] != keys[i - 1])) atomicAdd(found, 1ULL);
}

__device__ double framed(const LatticeOnGpu& lattice, const double* point, int k) {
    return (point[k] - lattice.centre[k]) * lattice.factor - lattice.low[k];
}

__global__ void box_key_kernel(const double* points, int count, LatticeOnGpu lattice, std::uint64_t* keys,
                               std::int32_t* numbers) {
    const int i = thread_number();
    if (i >= count) return;
    std::uint64_t key = 0;
    for (int k = lattice.dimension; k-- > 0;) {
        const double x = framed(lattice, points + static_cast<std::int64_t>(lattice.dimension) * i, k);
        const auto box = static_cast<std::int64_t>(x / lattice.side[k]);
        const auto last = lattice.count[k] - 1;
        key = key * static_cast<std::uint64_t>(lattice.count[k]) + static_cast<std::uint64_t>(box < 0 ? 0
                                                                                              : box > last
                                                                                                  ? last
                                                                                                  : box);
    }
    keys[i] = key;
    numbers[i] = i;
}

template <class Real>
__global__ void place_in_grid_kernel(const double* points, const std::int32_t* from, int count,
                                     const __grid_constant__ GridPlacing placing, GridPoint<Real>* out) {
    const int i = thread_number();
    if (i >= count) return;
    const double* point = points + static_cast<std::int64_t>(placing.dimension) * from[i];
    GridPoint<Real> at{};
    for (int k = 0; k < placing.dimension; ++k) {
        const auto here = placed(placing, k, point[k]);
        at.u[k] = static_cast<Real>(here.u);
        at.place += here.cell * placing.stride(k);
    }
    out[i] = at;
}

__global__ void place_in_lattice_kernel(const double* points, const std::int32_t* from, int count,
                                        LatticeOnGpu lattice, double* out) {
    const int i = thread_number();
    if (i >= count) return;
    const double* point = points + static_cast<std::int64_t>(lattice.dimension) * from[i];
    const int columns = boxed_columns(lattice.dimension);
    double* row = out + static_cast<std::int64_t>(columns) * i;
    for (int k = 0; k < columns - 1; ++k) row[k] = k < lattice.dimension ? framed(lattice, point, k) : 0.0;
}

template <class Real>
__global__ void order_strengths_kernel(const double* strengths, const std::int32_t* from, int count,
                                       int exponent, Real* out) {
    const int i = thread_number();
    if (i < count) out[i] = static_cast<Real>(scalbn(strengths[from[i]], exponent));
}

__global__ void weigh_points_kernel(const double* strengths, const std::int32_t* from, int count,
                                    int exponent, int columns, double* out) {
    const int i = thread_number();
    if (i < count)
        out[static_cast<std::int64_t>(columns) * i + columns - 1] = scalbn(strengths[from[i]], exponent);
}

int bits_of(double keys) {
    int bits = 1;
    while (std::ldexp(1.0, bits) < keys) ++bits;
    return std::min(bits, 64);
}

} // namespace

LatticeOnGpu::LatticeOnGpu(const GaussLattice& lattice, const GaussFrame& frame)
    : dimension(lattice.dimension), factor(std::ldexp(1.0, frame.exponent)) {
    for (std::size_t k = 0; k < static_cast<std::size_t>(dimension); ++k) {
        centre[k] = frame.centre[k];
        low[k] = lattice.low[k];
        side[k] = lattice.side[k];
        count[k] = lattice.count[k];
    }
}

double LatticeOnGpu::boxes() const {
    double all = 1.0;
    for (int k = 0; k < dimension; ++k) all *= static_cast<double>(count[k]);
    return all;
}

void SortedGaussPoints::make_room_for_keys() {
    const auto size = static_cast<std::size_t>(count_);
    make_room(unsorted_keys_, size);
    make_room(keys_, size);
    make_room(unsorted_, size);
    make_room(from_, size);
}

void SortedGaussPoints::sort(int bits, cudaStream_t stream) {
    std::size_t bytes = 0;
    const auto run = [&](void* memory) {
        check(cub::DeviceRadixSort::SortPairs(memory, bytes, unsorted_keys_.data(), keys_.data(),
                                              unsorted_.data(), from_.data(), count_, 0, bits, stream),
              "sorting points");
    };
    run(nullptr);
    run(workspace_.reserve(bytes));
}

void SortedGaussPoints::sort_by_cells(const GridPlacing& placing, cudaStream_t stream) {
    make_room_for_keys();
    if (count_ == 0) return;
    launch_over(count_, stream, cell_key_kernel, points_, count_, placing, unsorted_keys_.data(),
                unsorted_.data());
    sort(bits_of(static_cast<double>(placing.numbers())), stream);
}

void SortedGaussPoints::sort_by_columns(const GridPlacing& placing, cudaStream_t stream) {
    make_room_for_keys();
    if (count_ == 0) return;
    const GridColumns columns(placing);
    launch_over(count_, stream, column_key_kernel, points_, count_, placing, columns, unsorted_keys_.data(),
                unsorted_.data());
    sort(bits_of(static_cast<double>(columns.total())), stream);
}

void SortedGaussPoints::sort_by_boxes(const LatticeOnGpu& lattice, cudaStream_t stream) {
    make_room_for_keys();
    if (count_ == 0) return;
    launch_over(count_, stream, box_key_kernel, points_, count_, lattice, unsorted_keys_.data(),
                unsorted_.data());
    sort(bits_of(lattice.boxes()), stream);
}

template <class Real>
void SortedGaussPoints::place(const GridPlacing& placing, GridPoint<Real>* out, cudaStream_t stream) const {
    launch_over(count_, stream, place_in_grid_kernel<Real>, points_, from_.data(), count_, placing, out);
}
template void SortedGaussPoints::place(const GridPlacing&, GridPoint<float>*, cudaStream_t) const;
template void SortedGaussPoints::place(const GridPlacing&, GridPoint<double>*, cudaStream_t) const;

template <class Real>
void SortedGaussPoints::place_in_columns(const GridPlacing& placing, GridPoint<Real>* out,
                                         cudaStream_t stream) const {
    launch_over(count_, stream, place_in_columns_kernel<Real>, points_, from_.data(), count_, placing, out);
}
template void SortedGaussPoints::place_in_columns(const GridPlacing&, GridPoint<float>*, cudaStream_t) const;
template void SortedGaussPoints::place_in_columns(const GridPlacing&, GridPoint<double>*, cudaStream_t) const;

void SortedGaussPoints::place(const LatticeOnGpu& lattice, double* out, cudaStream_t stream) const {
    launch_over(count_, stream, place_in_lattice_kernel, points_, from_.data(), count_, lattice, out);
}

void find_plane_starts(const std::uint64_t* keys, int count, const GridColumns& columns, std::int32_t* starts,
                       cudaStream_t stream) {
    launch_over(std::int64_t{columns.total()} + 1, stream, plane_start_kernel, keys, count, columns.total(),
                starts);
}

std::int64_t count_keys(const std::uint64_t* keys, int count, unsigned long long* found,
                        cudaStream_t stream) {
    check(cudaMemsetAsync(found, 0, sizeof(unsigned long long), stream), "clearing a count");
    launch_over(count, stream, count_keys_kernel, keys, count, found);
    unsigned long long out = 0;
    copy(&out, found, 1, stream);
    check(cudaStreamSynchronize(stream), "waiting for the GPU");
    return static_cast<std::int64_t>(out);
}

int most_of_a_walk(const std::int32_t* starts, const GridColumns& columns, std::int32_t* most,
                   cudaStream_t stream) {
    const int walks =
        columns.count[0] * columns.count[1] * ((columns.planes + planes_of_a_walk - 1) / planes_of_a_walk);
    check(cudaMemsetAsync(most, 0, sizeof(std::int32_t), stream), "clearing a count");
    launch_over(walks, stream, most_of_a_walk_kernel, starts, columns, walks, most);
    std::int32_t out = 0;
    copy(&out, most, 1, stream);
    check(cudaStreamSynchronize(stream), "waiting for the GPU");
    return out;
}

template <class Real>
void order_strengths(const double* strengths, const std::int32_t* from, int count, int exponent, Real* out,
                     cudaStream_t stream) {
    launch_over(count, stream, order_strengths_kernel<Real>, strengths, from, count, exponent, out);
}
template void order_strengths(const double*, const std::int32_t*, int, int, float*, cudaStream_t);
template void order_strengths(const double*, const std::int32_t*, int, int, double*, cudaStream_t);

void order_boxed_strengths(const double* strengths, const std::int32_t* from, int count, int exponent,
                           int dimension, double* out, cudaStream_t stream) {
    launch_over(count, stream, weigh_points_kernel, strengths, from, count, exponent,
                boxed_columns(dimension), out);
}

} // namespace farfield::cuda
