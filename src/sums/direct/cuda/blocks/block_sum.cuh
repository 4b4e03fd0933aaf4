// Sums over blocks on a GPU: the near field of methods whose points live there. All pointers are memory of
// the current GPU, all work is queued on a stream, and nothing is allocated here but DeviceBlockPlan.
#pragma once

#include "backend/cuda/memory.h"
#include "math/nearest_image.h"
#include "sums/direct/cuda/blocks/plan.h"
#include "sums/direct/cuda/pair.cuh"
#include "sums/points/prepared.h"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace farfield::cuda {

/// The image of y that is nearest to x; y itself where there is no period.
__device__ __forceinline__ Vec4<double> nearest_to(const Vec4<double>& x, const Vec4<double>& y,
                                                   double period) {
    return {y.x - to_nearest_image(x.x - y.x, period), y.y - to_nearest_image(x.y - y.y, period),
            y.z - to_nearest_image(x.z - y.z, period), y.w};
}

/// How pairs are met.
enum class Meeting : std::uint8_t { one_sided, mutual, mended, mended_in_box };

/// In a box sources may be images: kernels of open space would have fewer registers for pairs.
FF_HD constexpr bool mends(Meeting meeting) {
    return meeting == Meeting::mended || meeting == Meeting::mended_in_box;
}

/// Point i of a tree is the caller's from[i], N×2.
struct GivenPlanePoints {
    const double* points = nullptr;
    const std::int32_t* from = nullptr;
    Frame frame;
};

/// A sum over blocks (BlockLists has what lists mean). Points are x, y, z and strength, in the plane x, y and
/// a complex strength. With centres, points count from the centre of their block: sources are moved by the
/// difference of two centres, formed in double, as they are read. Floats then keep digits that a common
/// origin would cost.
template <class Real>
struct BlockTask {
    const Vec4<Real>* targets = nullptr; ///< the sources, if blocks act on themselves or the sum is mutual
    const Vec4<Real>* sources = nullptr;
    const BlockRange* target_blocks = nullptr;
    const BlockRange* source_blocks = nullptr;
    const std::int32_t* first = nullptr; ///< of BlockLists
    const std::int32_t* last = nullptr;  ///< where rows end: first + 1, unless there is room between them
    const std::int32_t* partners = nullptr;
    const Vec4<double>* target_centres = nullptr; ///< null: all points count from one origin
    const Vec4<double>* source_centres = nullptr;
    double period = 0.0; ///< > 0: blocks of sources act from the image that is nearest to the targets' block
    /// With centres, floats, and a one-sided plan: the points in double, counted from one origin, which mend
    /// the differences of pairs closer than `close`, in widths of a block: w of `target_centres`.
    const Vec4<double>* exact_targets = nullptr;
    const Vec4<double>* exact_sources = nullptr;
    GivenPlanePoints given; ///< in the plane: take the place of exact points that are null
    float close = 1.0F / 16;
    bool own = false;
    Real softening2 = 0;
    Real core2 = 0; ///< of vortices 1/(2σ²); 0: they are points
    int outputs = field_and_potential;
    /// Σ q d/r³ and Σ q/r of each target in a block, d = x − y, as all sums of pair.cuh; in the plane as
    /// plane_pairs.cuh has them.
    Vec4<Real>* sums = nullptr;
};

/// What the kernels see of a plan.
struct BlockPlanView {
    const BlockItem* items; ///< null: each block is one, for the kernel of points in the plane
    const std::uint32_t* slots;
    const std::uint32_t* incoming;
    const std::int32_t* incoming_first;
    int item_count;
    int block_count;
    BlockShape shape;
    bool mutual;
};

/// A plan copied to the GPU, plan.plan_bytes() in all.
class DeviceBlockPlan {
public:
    /// Copies on `stream`. @throws DeviceError where the GPU's memory is full.
    DeviceBlockPlan(const BlockPlan& plan, cudaStream_t stream);
    [[nodiscard]] BlockPlanView view() const;

private:
    DeviceArray<BlockItem> items_;
    DeviceArray<std::uint32_t> slots_;
    DeviceArray<std::uint32_t> incoming_;
    DeviceArray<std::int32_t> incoming_first_;
    BlockShape shape_;
    bool mutual_;
};

/// `slots` is memory of plan.slot_bytes(sizeof(Real)), for one sum at a time; null for one-sided plans. Sums
/// of points in no target block are left alone.
template <class Real>
void launch_blocks(const BlockTask<Real>& task, const BlockPlanView& plan, Vec4<Real>* slots,
                   cudaStream_t stream);

} // namespace farfield::cuda
