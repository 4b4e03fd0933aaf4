// The kernel of MirroredTranslation.
#pragma once

#include "sums/fmm/cuda/mirrored_senders.cuh"

#include <cuda_pipeline.h>

#include <type_traits>

namespace farfield::cuda {

/// What a thread block does: steps one after the other, the next one's senders and matrices and the
/// description of the one after it on their way meanwhile.
template <class Shape>
class MirroredWorker : MirroredSenders<Shape> {
    using Real = typename Shape::Number;
    using Stage = MirroredStage<Shape>;
    using Products = std::conditional_t<Shape::tensor, TensorProducts<Shape>, FmaProducts<Shape>>;
    static constexpr int V = Shape::own_columns;
    struct alignas(sizeof(Real) * V) Own {
        Real value[V];
    };

    using MirroredSenders<Shape>::task_;
    using MirroredSenders<Shape>::stage_;
    using MirroredSenders<Shape>::tile_;
    using MirroredSenders<Shape>::thread_;
    using MirroredSenders<Shape>::lane_;
    using MirroredSenders<Shape>::warp_;
    const int own_target_ = thread_ / (mirrored_columns / V);
    const int own_column_ = thread_ % (mirrored_columns / V) * V;
    std::int32_t sender_[parities]; ///< of the class at hand
    std::int32_t class_ = -1;
    Own loaded_[parities];

public:
    __device__ MirroredWorker(const MirroredTask<Real>& task, Stage& stage)
        : MirroredSenders<Shape>(task, stage) {}

    __device__ void run() {
        this->find();
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

    __device__ __forceinline__ void load(const MirroredStep& step, int buffer) {
        if (step.offsets != class_) {
            class_ = step.offsets;
#pragma unroll
            for (int u = 0; u < parities; ++u)
                sender_[u] = this->sender_at(this->place_of(class_, u), own_target_);
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

} // namespace farfield::cuda
