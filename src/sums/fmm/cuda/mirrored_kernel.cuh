// The kernel of MirroredTranslation, included by one source for each type of number.
#pragma once

#include "sums/fmm/cuda/device_operators.cuh"
#include "sums/fmm/cuda/mirrored_translate.cuh"
#include "sums/tree/cuda/launch.cuh"

#include <cuda_pipeline.h>

#include <type_traits>

namespace farfield::cuda {

constexpr int mirrored_threads = 32 * parities;
constexpr int most_mirrored_classes = 384; ///< of offsets, with those of the coarsest level
constexpr int sender_places = 8 * 27;

template <class Real>
struct MirroredTask {
    TreeView tree;
    const MirroredTile* tiles;
    const std::int32_t* by_octant;
    const Real* from; ///< sorted multipole expansions of all cells, `stride` numbers each
    Real* to;         ///< expansions of `expansion_stride` numbers
    Real* sorted;     ///< of parents, the same once more; or null
    Real* partial;    ///< where parts of a tile go: `partial_cells` expansions of each
    int partial_cells;
    int stride, expansion_stride;
    int size; ///< functions
    int levels, classes;
    std::int32_t begin[parities], counts[parities];
    const std::int32_t* functions;
    const std::int32_t* places;
    const std::int32_t* first_step;
    const MirroredStep* steps;
    const Real* matrices;
};

/// What fits into registers: for each lane `targets`/8 times `groups` rows, or as many numbers of 16 by 8
/// tiles.
template <class Real, int tile_targets, int most_groups>
struct MirroredShape {
    using Number = Real;
    static constexpr int targets = tile_targets;
    static constexpr int groups = most_groups;
    static constexpr bool tensor = MirroredOperators<Real>::for_tensor_cores;
    static constexpr int own_columns =
        targets * mirrored_columns / mirrored_threads; ///< a thread forms sums of
    static constexpr int row = targets + 4; ///< of sums: lanes that read or write meet in different banks
    static constexpr int matrix = tensor ? 64 * groups * (mirrored_columns / 4)
                                         : 4 * mirrored_columns * ((groups + 3) / 4 * 4); ///< of a warp
    static_assert(own_columns * mirrored_threads == targets * mirrored_columns);
};

template <class Shape>
struct MirroredStage {
    using Real = typename Shape::Number;
    alignas(16) Real sums[2][parities][mirrored_columns][Shape::row];
    alignas(16) Real matrices[2][parities][Shape::matrix];
    MirroredStep steps[3];
    union {
        std::int32_t senders[sender_places][Shape::targets];
        std::int32_t coarse_cells[sender_places * Shape::targets]; ///< for targets on the coarsest level
    };
    std::int32_t target[Shape::targets];
    bool is_sent[most_mirrored_classes];
    std::int32_t sent_count; ///< of the classes that some target has a sender for
    std::int32_t first_step[most_mirrored_classes], end_step[most_mirrored_classes]; ///< of each of them
};

/// Products in registers; a lane has 8 targets, or 4, of every fourth row.
template <class Shape>
class FmaProducts {
    static constexpr int packs = Shape::targets / 32;
    using Real = typename Shape::Number;
    Real sum_[Shape::groups][4 * packs] = {};
    const int target_lane_ = static_cast<int>(threadIdx.x) % 8;
    const int row_lane_ = static_cast<int>(threadIdx.x) % 32 / 8;

    template <int rows>
    __device__ __forceinline__ void multiply_rows(const Real (&sums)[mirrored_columns][Shape::row],
                                                  const Real* matrix, int pad, int columns) {
        const Real* at = matrix + row_lane_ * pad;
#pragma unroll 2
        for (int k = 0; k < columns; ++k, at += 4 * pad) {
            alignas(16) Real a[(rows + 3) / 4 * 4], b[4 * packs];
#pragma unroll
            for (int i = 0; i < rows; i += 4)
                *reinterpret_cast<float4*>(a + i) = *reinterpret_cast<const float4*>(at + i);
#pragma unroll
            for (int p = 0; p < packs; ++p)
                *reinterpret_cast<float4*>(b + 4 * p) =
                    *reinterpret_cast<const float4*>(&sums[k][32 * p + 4 * target_lane_]);
#pragma unroll
            for (int r = 0; r < rows; ++r)
#pragma unroll
                for (int t = 0; t < 4 * packs; ++t) sum_[r][t] = fma(a[r], b[t], sum_[r][t]);
        }
    }

    template <int rows>
    __device__ __forceinline__ void multiply_up_to(const Real (&sums)[mirrored_columns][Shape::row],
                                                   const Real* matrix, int pad, int columns, int own) {
        if constexpr (rows > 0) {
            if (own == rows) return multiply_rows<rows>(sums, matrix, pad, columns);
            multiply_up_to<rows - 1>(sums, matrix, pad, columns, own);
        }
    }

public:
    /// @param groups  of the matrix @param rows  of this warp
    __device__ __forceinline__ void multiply(const Real (&sums)[mirrored_columns][Shape::row],
                                             const Real* matrix, int groups, int rows, int columns) {
        multiply_up_to<Shape::groups>(sums, matrix, (groups + 3) / 4 * 4, columns, (rows + 3) / 4);
    }

    /// Calls put(row, target, value) for all.
    template <class Put>
    __device__ __forceinline__ void each(const Put& put) const {
#pragma unroll
        for (int r = 0; r < Shape::groups; ++r)
#pragma unroll
            for (int t = 0; t < 4 * packs; ++t)
                put(4 * r + row_lane_, t / 4 * 32 + 4 * target_lane_ + t % 4, sum_[r][t]);
    }
};

/// Products on tensor cores, 16 rows by 8 targets each.
template <class Shape>
class TensorProducts {
    static constexpr int tiles = Shape::targets / 8;
    double sum_[Shape::groups][tiles][4] = {};
    const int lane_ = static_cast<int>(threadIdx.x) % 32;

public:
    __device__ __forceinline__ void multiply(const double (&sums)[mirrored_columns][Shape::row],
                                             const double* matrix, int groups, int rows, int columns) {
        const int own = (rows + 15) / 16;
        const double* at = matrix + 2 * lane_;
        for (int k = 0; k < columns; k += 4, at += 64 * groups) {
            double b[tiles];
#pragma unroll
            for (int t = 0; t < tiles; ++t) b[t] = sums[k + lane_ % 4][8 * t + lane_ / 4];
#pragma unroll
            for (int r = 0; r < Shape::groups; ++r) {
                if (r >= own) continue;
                const auto a = *reinterpret_cast<const double2*>(at + 64 * r);
#pragma unroll
                for (int t = 0; t < tiles; ++t)
                    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
                        "{%0, %1, %2, %3};"
                        : "+d"(sum_[r][t][0]), "+d"(sum_[r][t][1]), "+d"(sum_[r][t][2]), "+d"(sum_[r][t][3])
                        : "d"(a.x), "d"(a.y), "d"(b[t]));
            }
        }
    }

    template <class Put>
    __device__ __forceinline__ void each(const Put& put) const {
#pragma unroll
        for (int r = 0; r < Shape::groups; ++r)
#pragma unroll
            for (int t = 0; t < tiles; ++t)
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    put(16 * r + 8 * (i / 2) + lane_ / 4, 8 * t + 2 * (lane_ % 4) + i % 2, sum_[r][t][i]);
    }
};

/// What a thread block does: steps one after the other, the next one's senders and matrices and the
/// description of the one after it on their way meanwhile.
template <class Shape>
class MirroredWorker {
    using Real = typename Shape::Number;
    using Stage = MirroredStage<Shape>;
    using Products = std::conditional_t<Shape::tensor, TensorProducts<Shape>, FmaProducts<Shape>>;
    static constexpr int V = Shape::own_columns;
    struct alignas(sizeof(Real) * V) Own {
        Real value[V];
    };

    const MirroredTask<Real>& task_;
    Stage& stage_;
    const MirroredTile tile_;
    const int thread_ = static_cast<int>(threadIdx.x);
    const int lane_ = thread_ % 32;
    const int warp_ = thread_ / 32;
    const int own_target_ = thread_ / (mirrored_columns / V);
    const int own_column_ = thread_ % (mirrored_columns / V) * V;
    std::int32_t sender_[parities]; ///< of the class at hand
    std::int32_t class_ = -1;
    Own loaded_[parities];

public:
    __device__ MirroredWorker(const MirroredTask<Real>& task, Stage& stage)
        : task_(task), stage_(stage), tile_(task.tiles[blockIdx.x]) {}

    __device__ void run() {
        find_targets();
        find_senders();
        list_classes();
        Products products;
        if (stage_.sent_count > 0) multiply_all(products);
        put(products);
    }

private:
    /// The steps of the classes that are sent, in their order.
    struct Walk {
        const Stage& stage;
        int number = 0; ///< of the class
        int step;

        __device__ explicit Walk(const Stage& of) : stage(of), step(of.first_step[0]) {}
        [[nodiscard]] __device__ bool done() const { return number >= stage.sent_count; }
        __device__ void go_on() {
            if (++step < stage.end_step[number]) return;
            if (++number < stage.sent_count) step = stage.first_step[number];
        }
    };

    __device__ void multiply_all(Products& products) {
        Walk walk(stage_);
        int slot = 0; // of the step at hand
        int steps = 0;
        const auto fetch = [&](int to) {
            if (walk.done()) return;
            if (thread_ < static_cast<int>(sizeof(MirroredStep) / 16))
                __pipeline_memcpy_async(reinterpret_cast<uint4*>(stage_.steps + to) + thread_,
                                        reinterpret_cast<const uint4*>(task_.steps + walk.step) + thread_,
                                        16);
            __pipeline_commit();
            walk.go_on();
            ++steps; // that are known
        };
        fetch(0);
        fetch(1);
        __pipeline_wait_prior(0);
        __syncthreads();
        load(stage_.steps[0], 0);
        store(stage_.steps[0], 0);
        for (int step = 0, buffer = 0;; ++step, buffer ^= 1) {
            __pipeline_wait_prior(0);
            __syncthreads();
            const int next_slot = slot == 2 ? 0 : slot + 1;
            const bool last = step + 1 >= steps;
            fetch(next_slot == 2 ? 0 : next_slot + 1);
            if (!last) load(stage_.steps[next_slot], buffer ^ 1);
            const auto& now = stage_.steps[slot];
            products.multiply(stage_.sums[buffer][warp_], stage_.matrices[buffer][warp_], now.groups,
                              now.rows[warp_], now.most_columns);
            if (last) break;
            store(stage_.steps[next_slot], buffer ^ 1);
            slot = next_slot;
        }
    }

    __device__ void find_targets() {
        for (int t = thread_; t < Shape::targets; t += mirrored_threads) {
            auto cell = TreeView::none;
            if (t < tile_.count) cell = is_up() ? tile_.first + t : task_.by_octant[tile_.first + t];
            if (is_up() && cell != TreeView::none && task_.tree.is_leaf(cell)) cell = TreeView::none;
            stage_.target[t] = cell;
        }
        __syncthreads();
    }

    /// The cell, if it has sources.
    [[nodiscard]] __device__ std::int32_t sending(std::int32_t cell) const {
        if (cell == TreeView::none || task_.tree.self || task_.tree.sources[cell].size() > 0) return cell;
        return TreeView::none;
    }

    __device__ void find_senders() {
        const int coarse = task_.tree.coarse;
        if (is_coarse())
            for (int i = thread_; i < coarse * coarse * coarse; i += mirrored_threads)
                stage_.coarse_cells[i] = sending(task_.tree.coarse_cells[i]);
        const int slots = is_coarse() ? 0 : is_up() ? 1 : 27;
        for (int i = thread_; i < slots * Shape::targets; i += mirrored_threads) {
            const int t = i % Shape::targets;
            const int slot = i / Shape::targets;
            const auto cell = stage_.target[t];
            auto parent = cell;
            if (cell != TreeView::none && !is_up())
                parent = task_.tree.neighbour(task_.tree.parents[cell], slot);
#pragma unroll
            for (int octant = 0; octant < 8; ++octant)
                stage_.senders[8 * slot + octant][t] =
                    parent == TreeView::none ? TreeView::none : sending(task_.tree.child(parent, octant));
        }
        __syncthreads();
    }

    /// The sender that is at this place for a target.
    [[nodiscard]] __device__ std::int32_t sender_at(std::int32_t place, int target) const {
        if (place < 0) return TreeView::none;
        if (!is_coarse()) return stage_.senders[place][target];
        const auto cell = stage_.target[target];
        if (cell == TreeView::none) return cell;
        const auto& at = task_.tree.places[cell];
        const int x = at.index[0] + place % 256 - 128;
        const int y = at.index[1] + place / 256 % 256 - 128;
        const int z = at.index[2] + place / 65536 - 128;
        const int coarse = task_.tree.coarse;
        if (x < 0 || y < 0 || z < 0 || x >= coarse || y >= coarse || z >= coarse) return TreeView::none;
        return stage_.coarse_cells[x + coarse * (y + coarse * z)];
    }

    __device__ void list_classes() {
        const int level = is_up() ? task_.levels : min(tile_.level, task_.levels - 1);
        const auto* const first = task_.first_step + level * (task_.classes + 1);
        for (int c = warp_; c < task_.classes; c += parities) {
            bool any = false;
            if (first[c] < first[c + 1] && c % tile_.parts == tile_.part)
                for (int u = 0; u < parities; ++u)
                    for (int t = lane_; t < Shape::targets; t += 32)
                        any = any || sender_at(place_of(c, u), t) != TreeView::none;
            any = __any_sync(~0U, any ? 1 : 0) != 0;
            if (lane_ == 0) stage_.is_sent[c] = any;
        }
        __syncthreads();
        if (warp_ == 0) {
            int count = 0;
            for (int c = lane_; c - lane_ < task_.classes; c += 32) {
                const bool sent = c < task_.classes && stage_.is_sent[c];
                const unsigned all = __ballot_sync(~0U, sent ? 1 : 0);
                if (sent) {
                    const int place = count + __popc(all & ((1U << lane_) - 1));
                    stage_.first_step[place] = first[c];
                    stage_.end_step[place] = first[c + 1];
                }
                count += __popc(all);
            }
            if (lane_ == 0) stage_.sent_count = count;
        }
        __syncthreads();
    }

    [[nodiscard]] __device__ bool is_up() const { return tile_.group == up_group; }
    [[nodiscard]] __device__ bool is_coarse() const { return tile_.group == coarse_group; }
    [[nodiscard]] __device__ std::int32_t place_of(int offsets, int u) const {
        return task_.places[(tile_.group * task_.classes + offsets) * parities + u];
    }

    __device__ __forceinline__ void load(const MirroredStep& step, int buffer) {
        if (step.offsets != class_) {
            class_ = step.offsets;
#pragma unroll
            for (int u = 0; u < parities; ++u) sender_[u] = sender_at(place_of(class_, u), own_target_);
        }
#pragma unroll
        for (int u = 0; u < parities; ++u) {
            loaded_[u] = {};
            if (sender_[u] != TreeView::none && own_column_ < step.columns[u])
                loaded_[u] = *reinterpret_cast<const Own*>(
                    task_.from + static_cast<std::int64_t>(sender_[u]) * task_.stride + step.column[u] +
                    own_column_);
        }
        constexpr int width = 16 / static_cast<int>(sizeof(Real));
        const Real* const matrix =
            task_.matrices + step.begin + static_cast<std::int64_t>(warp_) * step.numbers;
        Real* const to = stage_.matrices[buffer][warp_];
        for (int i = lane_ * width; i < step.numbers; i += 32 * width)
            __pipeline_memcpy_async(to + i, matrix + i, 16);
        __pipeline_commit();
    }

    /// Sums and differences of what was loaded.
    __device__ __forceinline__ void store(const MirroredStep& step, int buffer) {
        const int axes = step.axes;
#pragma unroll
        for (int axis = 1; axis < parities; axis <<= 1) {
            if ((axes & axis) == 0) continue;
#pragma unroll
            for (int u = 0; u < parities; ++u) {
                if ((u & axis) != 0) continue;
#pragma unroll
                for (int v = 0; v < V; ++v) {
                    const Real even = loaded_[u].value[v] + loaded_[u | axis].value[v];
                    loaded_[u | axis].value[v] = loaded_[u].value[v] - loaded_[u | axis].value[v];
                    loaded_[u].value[v] = even;
                }
            }
        }
        const int parity = step.parity;
#pragma unroll
        for (int u = 0; u < parities; ++u)
#pragma unroll
            for (int v = 0; v < V; ++v)
                stage_.sums[buffer][u ^ parity][own_column_ + v][own_target_] = loaded_[u].value[v];
    }

    __device__ void put(const Products& products) const {
        Real* const expansions = tile_.parts == 1
                                     ? task_.to
                                     : task_.partial + static_cast<std::int64_t>(tile_.part) *
                                                           task_.partial_cells * task_.expansion_stride;
        products.each([&](int row, int target, Real value) {
            const auto cell = static_cast<std::int64_t>(stage_.target[target]);
            if (row >= task_.counts[warp_] || cell == TreeView::none) return;
            const int at = task_.begin[warp_] + row;
            expansions[cell * task_.expansion_stride + task_.functions[at]] = value;
            if (task_.sorted != nullptr) task_.sorted[cell * task_.stride + at] = value;
        });
        const int padding = task_.expansion_stride - task_.size;
        for (int i = thread_; i < Shape::targets * padding; i += mirrored_threads) {
            const auto cell = static_cast<std::int64_t>(stage_.target[i % Shape::targets]);
            if (cell != TreeView::none)
                expansions[cell * task_.expansion_stride + task_.size + i / Shape::targets] = Real(0);
        }
    }
};

template <class Shape, int blocks>
__global__ void __launch_bounds__(mirrored_threads, blocks)
    mirrored_kernel(const __grid_constant__ MirroredTask<typename Shape::Number> task) {
    extern __shared__ __align__(16) unsigned char mirrored_memory[];
    MirroredWorker<Shape>(task, *reinterpret_cast<MirroredStage<Shape>*>(mirrored_memory)).run();
}

/// Functions of expansions in the order of mirrored operators.
template <class Real>
__global__ void sort_functions_kernel(const Real* from, int from_stride, const std::int32_t* functions,
                                      int stride, std::int64_t numbers, Real* to) {
    const auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= numbers) return;
    const auto function = functions[i % stride];
    to[i] = function < 0 ? Real(0) : from[i / stride * from_stride + function];
}

/// Parts of expansions one after the other, for the first `cells` of a list.
template <class Real>
__global__ void add_parts_kernel(const Real* partial, int partial_cells, int parts, const std::int32_t* list,
                                 int cells, int stride, Real* to) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= cells * stride) return;
    const std::int64_t at = std::int64_t{list[i / stride]} * stride + i % stride;
    Real sum = 0;
    for (int part = 0; part < parts; ++part) sum += partial[std::int64_t{part} * partial_cells * stride + at];
    to[at] = sum;
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
bool MirroredTranslation<Real>::fits(const MirroredOperators<Real>& operators) {
    int device = 0, most = 0;
    check(cudaGetDevice(&device), "asking the GPU");
    check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "asking the GPU");
    bool fits = operators.classes <= most_mirrored_classes && operators.most_groups() > 0;
    const bool found = with_mirrored_shape<Real>(operators.most_groups(), [&](auto shape, auto) {
        fits = fits && static_cast<std::size_t>(most) >= sizeof(MirroredStage<decltype(shape)>);
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
void MirroredTranslation<Real>::climb(const DeviceTree& tree, Real* multipoles, cudaStream_t stream) {
    const auto numbers = std::int64_t{tree.cells()} * stride_;
    launch_over(numbers, stream, sort_functions_kernel<Real>, static_cast<const Real*>(multipoles),
                expansion_stride_, functions_.data(), stride_, numbers, sorted_.data());
    for (std::size_t level = 0; level + 1 < up_.size(); ++level)
        launch(tree, up_[level], up_[level + 1], multipoles, sorted_.data(), stream);
}

template <class Real>
void MirroredTranslation<Real>::run(const DeviceTree& tree, Real* locals, cudaStream_t stream) {
    launch(tree, 0, up_.front(), locals, nullptr, stream);
    if (coarse_parts_ > 1)
        launch_over(std::int64_t{coarse_targets_} * expansion_stride_, stream, add_parts_kernel<Real>,
                    static_cast<const Real*>(partial_.data()), tree.level_begin(1), coarse_parts_,
                    tree.by_octant(), coarse_targets_, expansion_stride_, locals);
}

} // namespace farfield::cuda
