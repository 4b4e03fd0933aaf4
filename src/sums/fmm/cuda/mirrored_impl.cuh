// MirroredTranslation, included by one source for each type of number.
#pragma once

#include "sums/fmm/cuda/add_parts.cuh"
#include "sums/fmm/cuda/device_operators.cuh"
#include "sums/fmm/cuda/mirrored_kernel.cuh"
#include "sums/tree/cuda/launch.cuh"

#include <algorithm>
#include <type_traits>

namespace farfield::cuda {

/// Functions of expansions in the order of mirrored operators.
template <class Real>
__global__ void sort_functions_kernel(const Real* from, int from_stride, const std::int32_t* functions,
                                      int stride, std::int64_t numbers, Real* to) {
    const auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= numbers) return;
    const auto function = functions[i % stride];
    to[i] = function < 0 ? Real(0) : from[i / stride * from_stride + function];
}

/// Calls use(shape, blocks a multiprocessor) with the smallest shape that has so many groups of rows; false
/// where none has.
template <class Real, class Use>
bool with_mirrored_shape(int groups, const Use& use) {
    const auto try_shape = [&](auto shape, auto blocks) {
        if (groups > decltype(shape)::groups) return false;
        use(shape, blocks);
        return true;
    };
    if constexpr (std::is_same_v<Real, float>)
        return try_shape(MirroredShape<float, 64, 4>{}, std::integral_constant<int, 2>{}) ||
               try_shape(MirroredShape<float, 64, 7>{}, std::integral_constant<int, 2>{}) ||
               try_shape(MirroredShape<float, 32, 16>{}, std::integral_constant<int, 2>{});
    else
        return try_shape(MirroredShape<double, 32, 2>{}, std::integral_constant<int, 2>{}) ||
               try_shape(MirroredShape<double, 32, 4>{}, std::integral_constant<int, 1>{}) ||
               try_shape(MirroredShape<double, 32, 5>{}, std::integral_constant<int, 1>{}) ||
               try_shape(MirroredShape<double, 32, 6>{}, std::integral_constant<int, 1>{});
}

template <class Real>
bool MirroredTranslation<Real>::fits(const PlainOperators<Real>& of) {
    constexpr int most_rows = most_mirrored_rows(std::is_same_v<Real, double>);
    const int rows = mirrored_rows(of);
    if (rows > most_rows || of.classes > most_mirrored_classes) return false;
    int device = 0, most = 0;
    check(cudaGetDevice(&device), "asking the GPU");
    check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "asking the GPU");
    bool fits = true;
    constexpr int a_group = MirroredOperators<Real>::rows_a_group;
    const bool found = with_mirrored_shape<Real>((rows + a_group - 1) / a_group, [&](auto shape, auto) {
        fits = static_cast<std::size_t>(most) >= sizeof(MirroredStage<decltype(shape)>);
    });
    return found && fits;
}

template <class Real>
MirroredTranslation<Real>::MirroredTranslation(const MirroredOperators<Real>& of, int expansion_stride,
                                               cudaStream_t stream)
    : expansion_stride_(expansion_stride), stride_(of.stride()), levels_(of.levels), classes_(of.classes),
      most_groups_(of.most_groups()), coarse_parts_(of.coarse_parts()),
      functions_(uploaded(of.functions, stream)), places_(uploaded(of.places, stream)),
      first_step_(uploaded(of.first_step, stream)), steps_(uploaded(of.steps, stream)),
      matrices_(uploaded(of.matrices, stream)) {
    for (int parity = 0; parity < parities; ++parity) {
        begin_[parity] = of.begin[parity];
        counts_[parity] = of.counts[parity];
    }
    with_mirrored_shape<Real>(most_groups_, [](auto shape, auto blocks) {
        using Shape = decltype(shape);
        check(cudaFuncSetAttribute(mirrored_kernel<Shape, decltype(blocks)::value>,
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(sizeof(MirroredStage<Shape>))),
              "asking for shared memory");
    });
    check(cudaStreamSynchronize(stream), "waiting for the GPU"); // the host's arrays end here
}

template <class Real>
void MirroredTranslation<Real>::prepare(const DeviceTree& tree, int first_level, int end_level,
                                        cudaStream_t stream) {
    int width = 0;
    with_mirrored_shape<Real>(most_groups_, [&](auto shape, auto) { width = decltype(shape)::targets; });
    made_.clear();
    const auto cut = [&](std::int32_t first, std::int32_t count, std::int32_t group, std::int32_t level) {
        const std::int32_t parts = group == coarse_group ? coarse_parts_ : 1;
        for (std::int32_t done = 0; done < count; done += width)
            for (std::int32_t part = 0; part < parts; ++part)
                made_.push_back({first + done, std::min(count - done, width), group, level, part, parts});
    };
    coarse_targets_ = 0;
    for (std::size_t octant = 0; octant < 8 && first_level == 0; ++octant)
        coarse_targets_ += tree.octant_counts()[octant];
    make_room(partial_, static_cast<std::size_t>(coarse_parts_) *
                            static_cast<std::size_t>(tree.level_begin(1)) *
                            static_cast<std::size_t>(expansion_stride_));
    std::int32_t first = 0;
    for (int level = 0; level < end_level; ++level) // the coarsest one first: its tiles may take longest
        for (int octant = 0; octant < 8; ++octant) {
            const auto count = tree.octant_counts()[static_cast<std::size_t>(8 * level + octant)];
            if (level >= first_level) cut(first, count, level == 0 ? coarse_group : octant, level);
            first += count;
        }
    up_.assign(1, static_cast<int>(made_.size()));
    for (int level = tree.levels() - 2; level >= first_level; --level) {
        cut(tree.level_begin(level), tree.level_begin(level + 1) - tree.level_begin(level), up_group, level);
        up_.push_back(static_cast<int>(made_.size()));
    }
    make_room(tiles_, made_.size(), made_.size() / 4);
    copy(tiles_.data(), made_.data(), made_.size(), stream);
    const auto numbers = static_cast<std::size_t>(tree.cells()) * static_cast<std::size_t>(stride_);
    make_room(sorted_, numbers, numbers / 4);
}

template <class Real>
void MirroredTranslation<Real>::launch(const DeviceTree& tree, int first, int end, Real* to, Real* sorted,
                                       cudaStream_t stream) {
    if (first == end) return;
    MirroredTask<Real> task{};
    task.tree = tree.view();
    task.tiles = tiles_.data() + first;
    task.by_octant = tree.by_octant();
    task.from = sorted_.data();
    task.to = to;
    task.sorted = sorted;
    task.partial = partial_.data();
    task.partial_cells = tree.level_begin(1);
    task.stride = stride_;
    task.expansion_stride = expansion_stride_;
    task.levels = levels_;
    task.classes = classes_;
    for (int parity = 0; parity < parities; ++parity) {
        task.begin[parity] = begin_[parity];
        task.counts[parity] = counts_[parity];
        task.size += counts_[parity];
    }
    task.functions = functions_.data();
    task.places = places_.data();
    task.first_step = first_step_.data();
    task.steps = steps_.data();
    task.matrices = matrices_.data();
    with_mirrored_shape<Real>(most_groups_, [&](auto shape, auto blocks) {
        using Shape = decltype(shape);
        mirrored_kernel<Shape, decltype(blocks)::value>
            <<<static_cast<unsigned>(end - first), mirrored_threads, sizeof(MirroredStage<Shape>), stream>>>(
                task);
    });
    check_launch("translations of mirror images");
}

template <class Real>
void MirroredTranslation<Real>::take(const Real* multipoles, std::int32_t begin, std::int32_t end,
                                     cudaStream_t stream) {
    const auto numbers = std::int64_t{end - begin} * stride_;
    launch_over(numbers, stream, sort_functions_kernel<Real>,
                multipoles + std::int64_t{begin} * expansion_stride_, expansion_stride_, functions_.data(),
                stride_, numbers, sorted_.data() + std::int64_t{begin} * stride_);
}

template <class Real>
void MirroredTranslation<Real>::climb(const DeviceTree& tree, int first, Real* multipoles,
                                      cudaStream_t stream) {
    take(multipoles, 0, tree.cells(), stream);
    int level = tree.levels() - 2;
    for (std::size_t pass = 0; pass + 1 < up_.size() && level >= first; ++pass, --level)
        launch(tree, up_[pass], up_[pass + 1], multipoles, sorted_.data(), stream);
}

template <class Real>
void MirroredTranslation<Real>::run(const DeviceTree& tree, Real* locals, cudaStream_t stream) {
    launch(tree, 0, up_.front(), locals, nullptr, stream);
    if (coarse_parts_ > 1)
        add_parts<Real>(partial_.data(), tree.level_begin(1), coarse_parts_, tree.by_octant(),
                        coarse_targets_, expansion_stride_, locals, stream);
}

} // namespace farfield::cuda
