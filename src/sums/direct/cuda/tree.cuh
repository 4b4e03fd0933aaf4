// Adds the partial sums of a symmetric sum along the tree of division.h, in double: within a group slot by
// slot, then group with group. A block takes 32 bodies; its warps take groups side by side, so that for few
// bodies the time is that of a group and not of all slots.
#pragma once

#include "sums/direct/cuda/division.h"
#include "sums/direct/cuda/pair.cuh"

namespace farfield::cuda {

/// Warps a block: many where bodies are few and the latency of a group is the time, else fewer, because
/// blocks that wait at barriers read less.
constexpr int tree_warps_for_few = 32, tree_warps_for_many = 8, few_bodies = 8192;
static_assert(most_groups / tree_warps_for_many <= 8, "add_subtree counts to 8");

__device__ __forceinline__ Vec4<double> operator+(const Vec4<double>& a, const Vec4<double>& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}

template <class Real>
struct PieceTask {
    const Vec4<Real>* partials; ///< slot·stride + body
    long long stride;
    int slab_nearest; ///< distance of the first slot
    Ring ring;
    Piece piece;
    int n;
    Vec4<double>* stack; ///< position·n + body
    Vec4<Real>* sums;    ///< for a piece that completes the tree
};

/// The subtree of at most 8 groups from `first`, within the stretch of the piece. Slots of neighbouring
/// groups lie next to each other and are read many at a time, because a read takes longer than all additions.
template <class Real>
__device__ __forceinline__ Vec4<double> add_subtree(const PieceTask<Real>& task, int first, int groups,
                                                    int i) {
    constexpr int batch = 32 / sizeof(Real); // of 128 bytes
    const Ring& ring = task.ring;
    const auto first_slot = [&](int group) {
        return slot_of(max(ring.first_distance(group), task.piece.nearest), task.slab_nearest);
    };
    const int farthest = min(ring.first_distance(first + groups) - 1, task.piece.farthest);
    const int end = slots_of(task.slab_nearest, farthest, ring.tiles);
    Vec4<double> sum{0, 0, 0, 0}, pending[3];
    if (task.piece.resumes)
        sum = task.stack[static_cast<long long>(task.piece.position + task.piece.merges) * task.n + i];

    // Closing groups in turn, a binary counter adds each to the earlier ones that it completes a subtree
    // with.
    int group = 0;
    const auto close_group = [&] {
#pragma unroll
        for (int level = 0; level < 3; ++level) {
            if ((group >> level & 1) == 0) {
                pending[level] = sum;
                break;
            }
            sum = pending[level] + sum;
        }
        ++group;
    };
    int next_group = groups > 1 ? first_slot(first + 1) : end;
    for (int slot = first_slot(first); slot < end; slot += batch) {
        Vec4<Real> part[batch];
#pragma unroll
        for (int k = 0; k < batch; ++k)
            part[k] = slot + k < end ? task.partials[(slot + k) * task.stride + i] : Vec4<Real>{0, 0, 0, 0};
#pragma unroll
        for (int k = 0; k < batch; ++k) {
            if (slot + k == next_group && next_group < end) {
                close_group();
                sum = {0, 0, 0, 0};
                next_group = group + 1 < groups ? first_slot(first + group + 1) : end;
            }
            sum = sum + Vec4<double>{part[k].x, part[k].y, part[k].z, part[k].w};
        }
    }
    close_group();
    return sum;
}

/// Blocks of 32 bodies and `warps` warps, at most one for each group.
template <class Real, int warps>
__global__ void __launch_bounds__(32 * warps) piece_kernel(const PieceTask<Real> task) {
    __shared__ Vec4<double> of_warp[warps][32];
    const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
    const int groups = task.piece.subtree.groups / static_cast<int>(blockDim.y);
    const int i = static_cast<int>(blockIdx.x) * 32 + lane;
    Vec4<double> sum{0, 0, 0, 0};
    if (i < task.n) sum = add_subtree(task, task.piece.subtree.first + warp * groups, groups, i);
    for (int half = 1; half < static_cast<int>(blockDim.y); half *= 2) {
        of_warp[warp][lane] = sum;
        __syncthreads();
        if (warp % (2 * half) == 0) sum = sum + of_warp[warp + half][lane];
        __syncthreads();
    }
    if (warp != 0 || i >= task.n) return;
    const Piece& piece = task.piece;
    for (int m = piece.merges - 1; m >= 0; --m)
        sum = task.stack[static_cast<long long>(piece.position + m) * task.n + i] + sum;
    if (piece.whole)
        task.sums[i] = {static_cast<Real>(sum.x), static_cast<Real>(sum.y), static_cast<Real>(sum.z),
                        static_cast<Real>(sum.w)};
    else
        task.stack[static_cast<long long>(piece.position) * task.n + i] = sum;
}

/// The last step of a sum in several parts: adds their subtrees for n bodies.
template <class Real>
struct SubtreesTask {
    const Vec4<double>* subtree[most_groups]; ///< n each, wherever this GPU can read
    unsigned char merges[most_groups];        ///< merges_of(…)
    int count;
    int n;
    Vec4<Real>* sums;
};

template <class Real>
__global__ void subtrees_kernel(const __grid_constant__ SubtreesTask<Real> task) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= task.n) return;
    Vec4<double> pending[8], sum{0, 0, 0, 0};
    int depth = 0;
#pragma unroll 4
    for (int k = 0; k < task.count; ++k) {
        sum = task.subtree[k][i];
        for (int m = 0; m < task.merges[k]; ++m) sum = pending[--depth] + sum;
        pending[depth++] = sum;
    }
    task.sums[i] = {static_cast<Real>(sum.x), static_cast<Real>(sum.y), static_cast<Real>(sum.z),
                    static_cast<Real>(sum.w)};
}

} // namespace farfield::cuda
