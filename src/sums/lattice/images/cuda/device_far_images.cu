#include "sums/lattice/images/cuda/device_far_images.cuh"

#include "sums/expansions/function_values.h"
#include "sums/expansions/operators.h"
#include "sums/expansions/translation.h"
#include "sums/lattice/images/cuda/far_image_kernels.cuh"
#include "sums/tree/cuda/launch.cuh"

#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#include <bit>
#include <cmath>

namespace farfield::cuda {
namespace {

constexpr std::int64_t least_part = 512, most_parts = 4096; ///< beside one a cell

template <class T>
void upload(const std::vector<T>& values, DeviceArray<T>& to, cudaStream_t stream) {
    make_room(to, values.size());
    copy(to.data(), values.data(), values.size(), stream);
}

} // namespace

void PointsByCells::sort(const GridView& grid, const double* points, std::int64_t n, cudaStream_t stream) {
    n_ = n;
    const int cells = grid.count();
    const auto size = static_cast<std::size_t>(n);
    make_room(keys_, size);
    make_room(sorted_keys_, size);
    make_room(unsorted_rows_, size);
    make_room(rows_, size);
    make_room(offsets_, 3 * size);
    make_room(starts_, static_cast<std::size_t>(cells) + 1);
    const bool one_cell = cells == 1; // as they are
    launch_over(n, stream, cells_kernel, grid, points, n, (one_cell ? sorted_keys_ : keys_).data(),
                (one_cell ? rows_ : unsorted_rows_).data());
    if (n > 0 && !one_cell) {
        std::size_t bytes = 0;
        const int bits = std::max(1, static_cast<int>(std::bit_width(static_cast<unsigned>(cells - 1))));
        const auto sort = [&](void* memory) {
            check(cub::DeviceRadixSort::SortPairs(memory, bytes, keys_.data(), sorted_keys_.data(),
                                                  unsorted_rows_.data(), rows_.data(), static_cast<int>(n), 0,
                                                  bits, stream),
                  "sorting points into cells");
        };
        sort(nullptr);
        sort(workspace_.reserve(bytes));
    }
    launch_over(n, stream, offsets_kernel, grid, points, n,
                static_cast<const std::uint32_t*>(sorted_keys_.data()),
                static_cast<const std::int32_t*>(rows_.data()), offsets_.data());
    launch_over(cells + 1, stream, starts_kernel, static_cast<const std::uint32_t*>(sorted_keys_.data()), n,
                cells, starts_.data());
    divide(cells, stream);
}

// By the number of points alone, so that the same points are added in the same order.
void PointsByCells::divide(int cells, cudaStream_t stream) {
    host_starts_.resize(static_cast<std::size_t>(cells) + 1);
    copy(host_starts_.data(), static_cast<const std::int32_t*>(starts_.data()), host_starts_.size(), stream);
    check(cudaStreamSynchronize(stream), "waiting for the GPU");
    const auto size = static_cast<std::int32_t>(std::max(least_part, (n_ + most_parts - 1) / most_parts));
    host_parts_.clear();
    host_first_.clear();
    for (int cell = 0; cell < cells; ++cell) {
        host_first_.push_back(static_cast<std::int32_t>(host_parts_.size()));
        const auto end = host_starts_[static_cast<std::size_t>(cell) + 1];
        for (auto begin = host_starts_[static_cast<std::size_t>(cell)]; begin < end; begin += size)
            host_parts_.push_back({cell, begin, std::min(end, begin + size)});
    }
    host_first_.push_back(static_cast<std::int32_t>(host_parts_.size()));
    part_count_ = static_cast<int>(host_parts_.size());
    upload(host_parts_, parts_, stream);
    upload(host_first_, first_part_, stream);
}

void DeviceFarImages::set_operator(const ImageGrid& grid, int order, int threads, cudaStream_t stream) {
    grid_ = grid;
    view_ = GridView(grid);
    operator_.set(image_operator(grid, order, threads), stream);
    if (order == order_) return;
    order_ = order;
    set_functions(stream);
}

void DeviceFarImages::set_functions(cudaStream_t stream) {
    const HarmonicBasis basis(order_, 8);
    const FunctionTable<double> table(basis);
    const auto loop = table.loop();
    const auto list = [](const void* from, int count) {
        const auto* const numbers = static_cast<const double*>(from);
        return std::vector<double>(numbers, numbers + count);
    };
    upload(list(loop.diagonal, order_ + 1), diagonal_, stream);
    upload(list(loop.climb, loop.pairs), climb_, stream);
    upload(list(loop.climb_back, loop.pairs), climb_back_, stream);
    check(cudaStreamSynchronize(stream), "waiting for the GPU");
}

void DeviceFarImages::set_points(const double* sources, std::int64_t n, const double* targets, std::int64_t m,
                                 cudaStream_t stream) {
    self_ = targets == nullptr;
    sources_.sort(view_, sources, n, stream);
    if (!self_) targets_.sort(view_, targets, m, stream);
}

void DeviceFarImages::compute(const double* strengths, Vec4<double>* out, cudaStream_t stream) {
    const int cells = grid_.count(), p = order_;
    const int pairs = (p + 1) * (p + 2) / 2, functions = (p + 1) * (p + 1);
    const FunctionLoop loop{.functions = Functions::harmonics,
                            .order = p,
                            .pairs = pairs,
                            .wide = true,
                            .diagonal = diagonal_.data(),
                            .climb = climb_.data(),
                            .climb_back = climb_back_.data()};
    const auto numbers = operator_.pairs();
    const auto size = [](auto... factors) { return (static_cast<std::size_t>(factors) * ...); };
    make_room(part_sums_, size(sources_.parts(), 2, pairs));
    make_room(locals_, size(cells, functions));
    make_room(coefficients_, size(cells, 8, pairs));
    const PartsOfCells from{sources_.part_list(), sources_.parts(), sources_.rows(), sources_.offsets()};
    form(loop, from, strengths, part_sums_.data(), stream);
    const auto threads = static_cast<unsigned>((pairs + 31) / 32 * 32);
    multipoles_kernel<<<static_cast<unsigned>(cells), threads, 0, stream>>>(
        numbers, sources_.first_part(), part_sums_.data(), operator_.multipoles());
    check_launch("multipole expansions of a box");
    operator_.apply(sources_.first_part(), stream);
    locals_kernel<<<static_cast<unsigned>(cells), threads, 0, stream>>>(
        numbers, operator_.groups(), operator_.part_locals(), locals_.data());
    check_launch("expansions of far images");
    coefficients_kernel<<<static_cast<unsigned>(cells), threads, 0, stream>>>(numbers, locals_.data(),
                                                                              coefficients_.data());
    check_launch("expansions of far images");
    const auto& at = targets();
    const PartsOfCells to{at.part_list(), at.parts(), at.rows(), at.offsets()};
    evaluate(loop, to, coefficients_.data(), 1.0 / grid_.width, out, stream);
}

} // namespace farfield::cuda
