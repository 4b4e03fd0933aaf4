// A warp takes a group of targets, one or two to a lane, with coordinates from the group's middle. It walks
// through the tree with a stack in shared memory: each lane judges a cell at a time. Cells that are accepted
// and sources that are not are gathered in shared memory and then added up, one after the other, by all
// lanes. What a group meets, and in which order, depends on nothing but the tree: so do its bits.
#pragma once

#include "math/pack.h"
#include "sums/direct/cuda/pair.cuh"
#include "sums/expansions/cartesian.h"
#include "sums/treecode/cuda/walk_sum.cuh"

#include "backend/cuda/check.h"

#include <type_traits>

namespace farfield::cuda {

constexpr int walk_warps = 4; ///< of a thread block
/// Cells on a stack. A level of the tree adds seven at most where one cell is judged at a time; `stack_spare`
/// are enough for all levels.
constexpr int stack_size = 768, stack_spare = 192;
constexpr int far_size = 64;     ///< cells that wait; a round adds 32 at most to fewer than 32
constexpr int run_size = 96;     ///< runs of sources that wait; a round adds 64 at most to fewer than 32
constexpr int flush_after = 128; ///< items that add up in the precision of the loop
constexpr int monopoles = -1;    ///< in place of an order

/// What a warp keeps in shared memory. `Near` is Point<Real>, or MixedPoint.
template <class Real, class Near>
struct WalkSpace {
    std::int32_t stack[stack_size];
    BlockRange runs[run_size];
    std::int32_t run_ends[32];
    Vec4<Real> far[far_size]; ///< centres; strengths of monopoles, or units of length
    std::int32_t far_cells[far_size];
    Near near[32];
};

template <class Real>
__device__ __forceinline__ Point<Real> near_point(double x, double y, double z, double w,
                                                  Point<Real> /*type*/) {
    return {{static_cast<Real>(x), static_cast<Real>(y), static_cast<Real>(z), static_cast<Real>(w)}};
}
__device__ __forceinline__ MixedPoint near_point(double x, double y, double z, double w,
                                                 MixedPoint /*type*/) {
    MixedPoint out;
    out.at = {static_cast<float>(x), static_cast<float>(y), static_cast<float>(z), static_cast<float>(w)};
    out.low = {static_cast<float>(x - out.at.x), static_cast<float>(y - out.at.y),
               static_cast<float>(z - out.at.z), 0.0F};
    return out;
}

__device__ __forceinline__ double least_of_warp(double value) {
    for (int step = 16; step > 0; step /= 2) value = fmin(value, __shfl_xor_sync(~0U, value, step));
    return value;
}
__device__ __forceinline__ double sum_of_warp(double value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0U, value, step);
    return value;
}

/// Reaches of cells are to be multiplied by these (Walk::scales_of).
struct WalkScales {
    double field = 0.0, potential = 0.0;
};

/// `Lanes`: targets of a lane.
template <class Real, class Near, int Order, int outputs, int Lanes>
class GroupWalk {
public:
    using Space = WalkSpace<Real, Near>;

    __device__ GroupWalk(const WalkTask<Real>& task, BlockRange targets, Space& space)
        : task_(task), own_(targets), space_(space), lane_(static_cast<int>(threadIdx.x) % 32),
          softening2_(static_cast<Real>(task.softening2)) {
        double low[3] = {1e300, 1e300, 1e300}, high[3] = {1e300, 1e300, 1e300}; // of −x
        Vec4<double> at[Lanes];
        for (int k = 0; k < Lanes; ++k) {
            at[k] = task.targets[min(own_.begin + lane_ + 32 * k, own_.end - 1)];
            const double x[3] = {at[k].x, at[k].y, at[k].z};
            for (int axis = 0; axis < 3; ++axis) {
                low[axis] = fmin(low[axis], x[axis]);
                high[axis] = fmin(high[axis], -x[axis]);
            }
        }
        for (int axis = 0; axis < 3; ++axis) {
            low[axis] = least_of_warp(low[axis]);
            high[axis] = -least_of_warp(high[axis]);
            centre_[axis] = 0.5 * (low[axis] + high[axis]);
            half_[axis] = 0.5 * (high[axis] - low[axis]);
        }
        for (int k = 0; k < Lanes; ++k) {
            targets_[k] =
                near_point(at[k].x - centre_[0], at[k].y - centre_[1], at[k].z - centre_[2], 0.0, Near{});
            total_[k] = {0.0, 0.0, 0.0, 0.0};
        }
    }

    __device__ void run() {
        if (task_.tree.self) add_own();
        const auto scales = task_.estimate ? scales_of() : WalkScales{};
        int waiting = push_roots();
        while (waiting > 0) waiting = judge(waiting, scales);
        add_far();
        add_runs();
        flush();
    }

    __device__ void write() const {
        for (int k = 0; k < Lanes; ++k)
            if (const int i = own_.begin + lane_ + 32 * k; i < own_.end) task_.sums[i] = total_[k];
    }

    [[nodiscard]] __device__ unsigned long long near_pairs() const {
        const auto sources = near_items_ - (task_.tree.self ? 1 : 0);
        return static_cast<unsigned long long>(sources) * static_cast<unsigned>(own_.size());
    }
    [[nodiscard]] __device__ unsigned long long far_pairs() const {
        return static_cast<unsigned long long>(far_items_) * static_cast<unsigned>(own_.size());
    }

private:
    /// How many of a stack are judged at once.
    __device__ static int round(int waiting) {
        return min(min(32, waiting), max(1, (stack_size - stack_spare - waiting) / 7));
    }

    __device__ int push_roots() {
        const auto& tree = task_.tree;
        int waiting = 0;
        for (int k = 0; k < tree.coarse * tree.coarse * tree.coarse; ++k)
            if (tree.coarse_cells[k] != TreeView::none) space_.stack[waiting++] = tree.coarse_cells[k];
        __syncwarp();
        return waiting;
    }

    /// Children of cells that some lanes open: the new height of the stack.
    __device__ int push_children(int height, bool opens, const WalkCell& cell) {
        const int children = opens ? cell.children() : 0;
        int end = children;
        for (int step = 1; step < 32; step *= 2) {
            const int below = __shfl_up_sync(~0U, end, step);
            if (lane_ >= step) end += below;
        }
        const int first = height + end - children;
        for (int k = 0; k < children; ++k) space_.stack[first + k] = cell.first_child + k;
        __syncwarp();
        return height + __shfl_sync(~0U, end, 31);
    }

    // As Walk::scales_of.
    __device__ WalkScales scales_of() {
        double field = 0.0, potential = 0.0;
        int waiting = push_roots();
        while (waiting > 0) {
            const int count = round(waiting);
            waiting -= count;
            WalkCell cell;
            bool opens = false;
            if (lane_ < count) {
                cell = task_.cells[space_.stack[waiting + lane_]];
                const bool inside =
                    task_.tree.self && own_.begin <= cell.sources_begin && cell.sources_end <= own_.end;
                if (cell.magnitude > 0.0F && !inside) {
                    double square = 0.0;
                    for (int axis = 0; axis < 3; ++axis) {
                        const double apart = fabs(cell.centre[axis] - centre_[axis]) + half_[axis];
                        square += apart * apart;
                    }
                    const double radius2 = static_cast<double>(cell.radius) * cell.radius;
                    opens = cell.children() > 0 && square < 2.0 * radius2;
                    if (!opens) {
                        const double nearest = 0.5 * task_.tree.width_of(cell.level());
                        const double rho2 = fmax(fmax(square, radius2), nearest * nearest) + task_.softening2;
                        const double inverse = rsqrt(rho2);
                        field += cell.magnitude * (inverse * inverse);
                        potential += cell.magnitude * inverse;
                    }
                }
            }
            __syncwarp();
            waiting = push_children(waiting, opens, cell);
        }
        field = sum_of_warp(field);
        potential = sum_of_warp(potential);
        const auto scale = [](double sum, double power) {
            return sum > 0.0 ? pow(sum, -1.0 / power) : HUGE_VAL;
        };
        return {scale(field, task_.order + 3.0), scale(potential, task_.order + 2.0)};
    }

    enum class Verdict : std::uint8_t { none, far, near, open };

    __device__ Verdict verdict_on(const WalkCell& cell, const WalkScales& scales) const {
        if (cell.sources() <= 0) return Verdict::none;
        const bool self = task_.tree.self;
        if (self && own_.begin <= cell.sources_begin && cell.sources_end <= own_.end) return Verdict::none;
        const auto opened = cell.children() > 0 ? Verdict::open : Verdict::near;
        if (self && cell.sources_begin <= own_.begin && own_.end <= cell.sources_end) return opened;
        if (cell.sources() <= task_.few) return Verdict::near;
        double square = task_.softening2;
        for (int axis = 0; axis < 3; ++axis) {
            const double apart = fmax(0.0, fabs(cell.centre[axis] - centre_[axis]) - half_[axis]);
            square += apart * apart;
        }
        double reach = task_.least * cell.radius;
        if (task_.estimate)
            reach =
                fmax(reach, fmax(scales.field * cell.field_reach, scales.potential * cell.potential_reach));
        return square > reach * reach ? Verdict::far : opened;
    }

    /// Judges some of the cells that wait on the stack; how many wait then.
    __device__ int judge(int waiting, const WalkScales& scales) {
        const int count = round(waiting);
        waiting -= count;
        WalkCell cell;
        std::int32_t number = 0;
        auto verdict = Verdict::none;
        if (lane_ < count) {
            number = space_.stack[waiting + lane_];
            cell = task_.cells[number];
            verdict = verdict_on(cell, scales);
        }
        __syncwarp();
        gather_far(verdict == Verdict::far, number, cell);
        gather_runs(verdict == Verdict::near, cell);
        return push_children(waiting, verdict == Verdict::open, cell);
    }

    /// This lane's place among those that have something.
    __device__ int rank_in(unsigned lanes) const { return __popc(lanes & ((1U << lane_) - 1U)); }

    __device__ void gather_far(bool accepted, std::int32_t number, const WalkCell& cell) {
        const unsigned lanes = __ballot_sync(~0U, accepted ? 1 : 0);
        if (lanes == 0) return;
        if (accepted) {
            const int place = far_waiting_ + rank_in(lanes);
            const double w = Order == monopoles ? cell.strength : task_.tree.width_of(cell.level());
            space_.far[place] = {static_cast<Real>(cell.centre[0] - centre_[0]),
                                 static_cast<Real>(cell.centre[1] - centre_[1]),
                                 static_cast<Real>(cell.centre[2] - centre_[2]), static_cast<Real>(w)};
            if constexpr (Order != monopoles) space_.far_cells[place] = number;
        }
        far_waiting_ += __popc(lanes);
        __syncwarp();
        if (far_waiting_ >= 32) add_far();
    }

    /// The sources of a cell, without the group's own.
    __device__ void gather_runs(bool near, const WalkCell& cell) {
        BlockRange first{cell.sources_begin, cell.sources_end}, second{0, 0};
        if (near && task_.tree.self && first.begin <= own_.begin && own_.end <= first.end) {
            second = {own_.end, first.end};
            first.end = own_.begin;
        }
        for (const auto& range : {first, second}) {
            const bool there = near && range.size() > 0;
            const unsigned lanes = __ballot_sync(~0U, there ? 1 : 0);
            if (there) space_.runs[runs_waiting_ + rank_in(lanes)] = range;
            runs_waiting_ += __popc(lanes);
        }
        __syncwarp();
        if (runs_waiting_ >= 32) add_runs();
    }

    __device__ void add_far() {
#pragma unroll 4 // of several inverse roots on their way side by side
        for (int k = 0; k < far_waiting_; ++k) {
            const auto at = space_.far[k];
            if constexpr (Order == monopoles) {
                for (int t = 0; t < Lanes; ++t) {
                    const Point<Real> target{targets_[t].at};
                    const auto d = difference(target, Point<Real>{at});
                    sums_[t].add(d, at.w, inverse_powers<outputs>(squared_length(d, softening2_)));
                }
            } else {
                add_expansion(at, task_.numbers + static_cast<std::int64_t>(
                                                      far_numbers(Order > 0 ? Order : task_.order)) *
                                                      space_.far_cells[k]);
            }
        }
        far_items_ += far_waiting_;
        count_items(far_waiting_);
        far_waiting_ = 0;
        __syncwarp();
    }

    __device__ void add_expansion(const Vec4<Real>& at, const Real* numbers) {
        using V = Pack<Real, Lanes>;
        using O = Ops<V>;
        V R[3], inverse;
        for (int t = 0; t < Lanes; ++t) {
            R[0].v[t] = targets_[t].at.x - at.x;
            R[1].v[t] = targets_[t].at.y - at.y;
            R[2].v[t] = targets_[t].at.z - at.z;
            const Real r2 =
                fma(R[0].v[t], R[0].v[t], fma(R[1].v[t], R[1].v[t], fma(R[2].v[t], R[2].v[t], softening2_)));
            inverse.v[t] = inverse_powers<potential_only | field_only>(r2).first;
        }
        FarSums<V> sums{O::set(Real(0)), {O::set(Real(0)), O::set(Real(0)), O::set(Real(0))}};
        add_far_value<(Order > 0 ? Order : 0), (outputs & potential_only) != 0>(task_.order, numbers, R,
                                                                                inverse, O::set(at.w), sums);
        for (int t = 0; t < Lanes; ++t) {
            sums_[t].potential += sums.potential.v[t];
            sums_[t].x += sums.field[0].v[t];
            sums_[t].y += sums.field[1].v[t];
            sums_[t].z += sums.field[2].v[t];
        }
    }

    __device__ Near load_source(int index) const {
        const auto p = task_.sources[index];
        return near_point(p.x - centre_[0], p.y - centre_[1], p.z - centre_[2], p.w, Near{});
    }

    __device__ void add_near(int count) {
#pragma unroll 4
        for (int k = 0; k < count; ++k) {
            const Near from = space_.near[k];
            for (int t = 0; t < Lanes; ++t) {
                const auto d = difference(targets_[t], from);
                sums_[t].add(d, from.at.w, inverse_powers<outputs>(squared_length(d, softening2_)));
            }
        }
    }

    /// What targets do to each other: all but the one that is the source itself.
    __device__ void add_own() {
        for (int base = own_.begin; base < own_.end; base += 32) {
            const int count = min(32, own_.end - base);
            if (lane_ < count) space_.near[lane_] = load_source(base + lane_);
            __syncwarp();
            for (int k = 0; k < count; ++k) {
                const Near from = space_.near[k];
                for (int t = 0; t < Lanes; ++t) {
                    const bool same = own_.begin + lane_ + 32 * t == base + k;
                    const auto d = difference(targets_[t], from);
                    const Real r2 = same ? Real(1) : squared_length(d, softening2_);
                    sums_[t].add(d, same ? Real(0) : from.at.w, inverse_powers<outputs>(r2));
                }
            }
            __syncwarp();
        }
        near_items_ += own_.size();
        count_items(own_.size());
    }

    /// The sources of all runs that wait: 32 runs at a time are laid end to end.
    __device__ void add_runs() {
        for (int first = 0; first < runs_waiting_; first += 32) {
            const bool there = first + lane_ < runs_waiting_;
            const auto run = there ? space_.runs[first + lane_] : BlockRange{0, 0};
            int end = run.size();
            for (int step = 1; step < 32; step *= 2) {
                const int below = __shfl_up_sync(~0U, end, step);
                if (lane_ >= step) end += below;
            }
            space_.run_ends[lane_] = end;
            const int total = __shfl_sync(~0U, end, 31);
            __syncwarp();
            Near next = load_slot(first, lane_, total);
            for (int base = 0; base < total; base += 32) {
                space_.near[lane_] = next;
                __syncwarp();
                if (base + 32 < total) next = load_slot(first, base + 32 + lane_, total);
                add_near(min(32, total - base));
                count_items(32);
                __syncwarp();
            }
            near_items_ += total;
        }
        runs_waiting_ = 0;
    }

    /// The source that has this place in the runs laid end to end.
    __device__ Near load_slot(int first_run, int slot, int total) const {
        if (slot >= total) return Near{};
        int run = 0; // the first that ends behind the slot
        for (int step = 16; step > 0; step /= 2)
            if (space_.run_ends[run + step - 1] <= slot) run += step;
        const auto range = space_.runs[first_run + run];
        return load_source(range.end - (space_.run_ends[run] - slot));
    }

    __device__ void count_items(int count) {
        items_ += count;
        if (items_ >= flush_after) flush();
    }

    __device__ void flush() {
        items_ = 0;
        for (int t = 0; t < Lanes; ++t) {
            total_[t].x += sums_[t].x;
            total_[t].y += sums_[t].y;
            total_[t].z += sums_[t].z;
            total_[t].w += sums_[t].potential;
            sums_[t] = {};
        }
    }

    const WalkTask<Real>& task_;
    BlockRange own_;
    Space& space_;
    int lane_;
    Real softening2_;
    double centre_[3], half_[3];
    Near targets_[Lanes];
    Sum<Real, outputs> sums_[Lanes];
    Vec4<double> total_[Lanes];
    int far_waiting_ = 0, runs_waiting_ = 0, items_ = 0;
    int far_items_ = 0, near_items_ = 0;
};

template <class Real, class Near, int Order, int outputs>
__global__ void __launch_bounds__(32 * walk_warps) walk_kernel(const WalkTask<Real> task) {
    using Space = WalkSpace<Real, Near>;
    __shared__ alignas(16) unsigned char memory[walk_warps * sizeof(Space)]; // types there have initialisers
    auto& space = reinterpret_cast<Space*>(memory)[threadIdx.x / 32];
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int groups = *task.group_count;
    unsigned long long near = 0, far = 0;
    const auto take = [&](BlockRange range, auto&& walk) {
        walk.run();
        walk.write();
        if (range.begin < task.rows.begin) return; // whoever has its first row counts it
        near += walk.near_pairs();
        far += walk.far_pairs();
    };
    for (;;) {
        int number = 0;
        if (lane == 0) number = atomicAdd(task.next, 1);
        number = __shfl_sync(~0U, number, 0);
        if (number >= groups) break;
        const auto range = task.groups[number];
        if (range.end <= task.rows.begin || range.begin >= task.rows.end) continue;
        if (range.size() > 32)
            take(range, GroupWalk<Real, Near, Order, outputs, 2>(task, range, space));
        else
            take(range, GroupWalk<Real, Near, Order, outputs, 1>(task, range, space));
    }
    if (lane != 0) return;
    atomicAdd(task.pairs, near); // whole numbers: any order gives the same
    atomicAdd(task.pairs + 1, far);
}

template <class Real, class Near, int Order, int outputs>
void launch_walk(const WalkTask<Real>& task, cudaStream_t stream) {
    constexpr auto kernel = walk_kernel<Real, Near, Order, outputs>;
    int device = 0, processors = 0, blocks = 0;
    check(cudaGetDevice(&device), "asking the GPU");
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "asking the GPU");
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32 * walk_warps, 0),
          "asking the GPU");
    kernel<<<static_cast<unsigned>(processors * blocks), 32 * walk_warps, 0, stream>>>(task);
    check_launch("walks through a tree");
}

template <class Real, class Near, int Order>
void launch_outputs(const WalkTask<Real>& task, cudaStream_t stream) {
    if (task.outputs == field_only)
        launch_walk<Real, Near, Order, field_only>(task, stream);
    else
        launch_walk<Real, Near, Order, field_only | potential_only>(task, stream);
}

// Usual orders are unrolled.
template <class Real, class Near>
void launch_order(const WalkTask<Real>& task, cudaStream_t stream) {
    if (task.numbers == nullptr) return launch_outputs<Real, Near, monopoles>(task, stream);
    switch (task.order) {
    case 2:
        return launch_outputs<Real, Near, 2>(task, stream);
    case 3:
        return launch_outputs<Real, Near, 3>(task, stream);
    case 4:
        return launch_outputs<Real, Near, 4>(task, stream);
    default:
        return launch_outputs<Real, Near, 0>(task, stream);
    }
}

} // namespace farfield::cuda
