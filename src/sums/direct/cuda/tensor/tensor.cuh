// Each pair once, pairs of far tiles on tensor cores. A block takes tiles J and I; each warp holds a strip of
// I, its columns, as operands in registers and meets 16 bodies of J, its rows, at a time: one product gives
// r² of 16×8 pairs, CUDA cores make 1/r³ of it and split that into two halves, and two products each add
// Σ_i q_i (u_i, 1)/r³ to the rows and, transposed, Σ_j q_j (u_j, 1)/r³ to the columns. Warps go round the
// rows so that no two hold the same at a time: sums grow in one order, as in symmetric.cuh, which computes
// the tiles that are near and with which this file shares tiles, slots and combine.cuh.
#pragma once

#include "sums/direct/cuda/symmetric.cuh"
#include "sums/direct/cuda/tensor/curve_order.cuh"
#include "sums/direct/cuda/tensor/far_operands.cuh"
#include "sums/direct/cuda/tensor/far_shape.cuh"

namespace farfield::cuda {

/// Bodies in order along a curve, so that tiles are compact; all arrays are filled up to whole tiles.
struct FarArrays {
    Tile* tiles;
    FarBody* bodies;
    uint4* strengths; ///< 16 a group of 16 bodies, laid out by `strength_place`
};

struct FarTask {
    SymmetricTask<Point<float>> sum;
    FarArrays arrays;
};

/// Eight sums of a body as the products leave them: x y z 1 by high strengths, then by low ones.
struct FarSums {
    float4 high, low;
};

template <class Shape>
struct FarShared {
    uint4 rows[2 * Shape::tile];                   ///< fragment order, swizzled
    uint4 strengths[Shape::tile];                  ///< of the rows
    FarSums sums[Shape::tile];                     ///< of the rows
    uint4 columns[Shape::warps][2 * Shape::strip]; ///< vectors, later sums of a strip
};

/// Box, scales and operands of a tile a block.
template <class Shape>
__global__ void prepare_tiles_kernel(const Point<float>* points, int n, const FarArrays arrays) {
    const int first = static_cast<int>(blockIdx.x) * Shape::tile, thread = static_cast<int>(threadIdx.x);
    Extremes most;
    for (int i = first + thread; i < min(n, first + Shape::tile); i += extremes_threads)
        most.include(points[i].at);
    most.of_block();

    Tile tile{{most.low(0), most.low(1), most.low(2)}, 1, {most.high(0), most.high(1), most.high(2)}, 1};
    float half_diagonal2 = 0;
#pragma unroll
    for (int k = 0; k < 3; ++k) {
        const float half = 0.5F * (tile.high[k] - tile.low[k]);
        half_diagonal2 = fmaf(half, half, half_diagonal2);
    }
    tile.size = size_above(sqrtf(half_diagonal2));
    tile.strength = size_above(most.strength());
    if (thread == 0) arrays.tiles[blockIdx.x] = tile;
    const float to_unit = 1.0F / tile.size, to_strength = 1.0F / tile.strength; // exact

    auto* strengths = reinterpret_cast<__half*>(arrays.strengths + first);
    for (int i = thread; i < Shape::tile; i += extremes_threads) {
        float u[3] = {0, 0, 0}, q = 0; // fillers: in the centre, without strength
        if (first + i < n) {
            const Vec4<float> p = points[first + i].at;
            q = p.w * to_strength;
            u[0] = (p.x - centre(tile, 0)) * to_unit;
            u[1] = (p.y - centre(tile, 1)) * to_unit;
            u[2] = (p.z - centre(tile, 2)) * to_unit;
        }
        arrays.bodies[first + i] = far_body(u);
        const float value[4] = {q * u[0], q * u[1], q * u[2], q};
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const __half2 parts = split(value[k]);
            strengths[i / 16 * 128 + strength_place(i % 16, k)] = __low2half(parts);
            strengths[i / 16 * 128 + strength_place(i % 16, k + 4)] = __high2half(parts);
        }
    }
}

/// One block's work on two far tiles.
template <class Shape>
class FarMeeting {
public:
    static constexpr int pairs = Shape::column_pairs;

    __device__ FarMeeting(FarShared<Shape>& shared, const FarTask& task, int tile_i, int tile_j)
        : shared_(shared), i_(task.arrays.tiles[tile_i]), j_(task.arrays.tiles[tile_j]),
          pair_(far_pair(i_, j_, task.sum.softening2)), bodies_i_(task.arrays.bodies + tile_i * Shape::tile),
          bodies_j_(task.arrays.bodies + tile_j * Shape::tile),
          strengths_i_(task.arrays.strengths + tile_i * Shape::tile),
          strengths_j_(task.arrays.strengths + tile_j * Shape::tile), softening2_(task.sum.softening2) {}

    __device__ void run(Vec4<float>* of_i, Vec4<float>* of_j) {
        lay_out_rows();
#pragma unroll 1
        for (int pass = 0; pass < Shape::passes; ++pass) {
            const int strip = (pass * Shape::warps + warp_) * Shape::strip;
            lay_out_columns(strip);
            __syncthreads(); // rows and columns are there
            sum_strip(strip);
            write_columns(strip, of_i);
        }
        for (int j = static_cast<int>(threadIdx.x); j < Shape::tile; j += Shape::threads)
            of_j[j] = finished(shared_.sums[j], bodies_j_[j], j_, i_, -1.0F);
    }

private:
    // Lane (g, t) is to read its A operand in one piece: words 2t, 2t + 1 of rows g and g + 8. Exchanging
    // pieces by g / 2 keeps the stores, one g a thread, from colliding in the banks.
    __device__ void lay_out_rows() {
        const auto c = row_coefficients(pair_, i_, j_, softening2_);
        for (int k = static_cast<int>(threadIdx.x); k < Shape::tile / 2; k += Shape::threads) {
            const int group = k / 8, g = k % 8;
            const FarVector upper = far_vector<true>(bodies_j_[16 * group + g], c);
            const FarVector lower = far_vector<true>(bodies_j_[16 * group + g + 8], c);
            const auto* a = reinterpret_cast<const std::uint32_t*>(&upper);
            const auto* b = reinterpret_cast<const std::uint32_t*>(&lower);
#pragma unroll
            for (int t = 0; t < 4; ++t)
                shared_.rows[32 * group + 4 * g + (t ^ g / 2)] = {a[2 * t], b[2 * t], a[2 * t + 1],
                                                                  b[2 * t + 1]};
        }
        for (int k = static_cast<int>(threadIdx.x); k < Shape::tile; k += Shape::threads) {
            shared_.strengths[k] = strengths_j_[k];
            shared_.sums[k] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
        }
    }

    __device__ void lay_out_columns(int strip) {
        const auto c = column_coefficients(pair_, i_);
        __syncwarp(); // the sums of the strip before have been read
        for (int k = lane_; k < Shape::strip; k += 32)
            reinterpret_cast<FarVector*>(shared_.columns[warp_])[k] =
                far_vector<false>(bodies_i_[strip + k], c);
    }

    __device__ void sum_strip(int strip) {
        uint2 vector[pairs][2], strength[pairs];
        const auto* vectors = reinterpret_cast<const uint2*>(shared_.columns[warp_]);
        const auto* strengths = reinterpret_cast<const uint2*>(strengths_i_ + strip);
        float total[pairs][4];
#pragma unroll
        for (int c = 0; c < pairs; ++c) {
            vector[c][0] = vectors[64 * c + lane_];
            vector[c][1] = vectors[64 * c + 32 + lane_];
            strength[c] = strengths[32 * c + lane_];
            for (float& value : total[c]) value = 0;
        }
#pragma unroll 1
        for (int round = 0; round < Shape::warps; ++round) {
            const int first = (warp_ + round) % Shape::warps * Shape::chunk;
#pragma unroll 1
            for (int row = first; row < first + Shape::chunk; row += Shape::short_sum)
                sum_rows(row, vector, strength, total);
            __syncthreads();
        }
        // a product's sums of 16 columns: of g in the first two words, of g + 8 in the others
        auto* sums = reinterpret_cast<float2*>(shared_.columns[warp_]);
#pragma unroll
        for (int c = 0; c < pairs; ++c) {
            sums[64 * c + lane_] = {total[c][0], total[c][1]};
            sums[64 * c + 32 + lane_] = {total[c][2], total[c][3]};
        }
        __syncwarp();
    }

    // Products round sums toward zero: long ones would drift.
    __device__ __forceinline__ void sum_rows(int first, const uint2 (&vector)[pairs][2],
                                             const uint2 (&strength)[pairs], float (&total)[pairs][4]) {
        float of_columns[pairs][4];
#pragma unroll
        for (int c = 0; c < pairs; ++c)
            for (float& value : of_columns[c]) value = 0;
        const int swizzled = lane_ ^ lane_ / 8;
#pragma unroll 1
        for (int row = first; row < first + Shape::short_sum; row += 16) {
            const uint4 rows = shared_.rows[2 * row + swizzled];
            const uint2 row_strengths = reinterpret_cast<const uint2*>(shared_.strengths)[2 * row + lane_];
            float of_rows[4] = {0, 0, 0, 0};
            FarDistances next = far_distances(rows, vector[0]); // a product's latency ahead
#pragma unroll
            for (int c = 0; c < pairs; ++c) {
                const FarDistances now = next;
                if (c + 1 < pairs) next = far_distances(rows, vector[c + 1]);
                const FarWeights w = far_weights(now), across = transposed(w);
                add_product(of_rows, w.high, strength[c]);
                add_product(of_columns[c], across.high, row_strengths);
                add_product(of_rows, w.low, strength[c]);
                add_product(of_columns[c], across.low, row_strengths);
            }
            auto* sums = reinterpret_cast<float2*>(shared_.sums) + 4 * row + lane_;
            sums[0] = {sums[0].x + of_rows[0], sums[0].y + of_rows[1]};
            sums[32] = {sums[32].x + of_rows[2], sums[32].y + of_rows[3]};
        }
#pragma unroll
        for (int c = 0; c < pairs; ++c)
            for (int k = 0; k < 4; ++k) total[c][k] += of_columns[c][k];
    }

    __device__ void write_columns(int strip, Vec4<float>* of_i) {
        const auto* sums = reinterpret_cast<const FarSums*>(shared_.columns[warp_]);
        for (int k = lane_; k < Shape::strip; k += 32)
            of_i[strip + k] = finished(sums[k], bodies_i_[strip + k], i_, j_, 1.0F);
    }

    /// Σ q (x_own − x_other)/r³ from Σ q (u_other, 1)/r³; `side` tells to which side D points.
    __device__ Vec4<float> finished(const FarSums& sums, const FarBody& body, const Tile& own,
                                    const Tile& other, float side) const {
        const float weight = sums.high.w + sums.low.w;
        const float moment[3] = {sums.high.x + sums.low.x, sums.high.y + sums.low.y,
                                 sums.high.z + sums.low.z};
        float field[3];
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            const float to_centre = fmaf(-joined(body.axis[k]), own.size, side * pair_.offset[k]);
            const float value = -fmaf(to_centre, weight, moment[k] * other.size);
            field[k] = value * pair_.root * pair_.root * (pair_.root * other.strength);
        }
        return {field[0], field[1], field[2], 0.0F};
    }

    FarShared<Shape>& shared_;
    const Tile i_, j_;
    const FarPair pair_;
    const FarBody *bodies_i_, *bodies_j_;
    const uint4 *strengths_i_, *strengths_j_;
    const float softening2_;
    const int lane_ = static_cast<int>(threadIdx.x) % 32, warp_ = static_cast<int>(threadIdx.x) / 32;
};

/// Far tiles: each (tile, distance) leaves one partial sum a body and side, in the slots of symmetric.cuh.
template <class Shape>
__global__ void __launch_bounds__(Shape::threads, Shape::resident) far_kernel(const FarTask task) {
    extern __shared__ uint4 shared[];
    const auto meeting = meeting_of(task.sum);
    if (meeting.distance == 0 || meeting.done_by_partner() ||
        !are_far(task.arrays.tiles[meeting.i], task.arrays.tiles[meeting.j]))
        return;
    const auto slots = slots_of_meeting(task.sum, meeting, Shape::tile);
    FarMeeting<Shape>(reinterpret_cast<FarShared<Shape>&>(*shared), task, meeting.i, meeting.j)
        .run(slots.of_i, slots.of_j);
}

/// The others.
template <class Shape>
__global__ void __launch_bounds__(Shape::threads) near_kernel(const FarTask task) {
    const auto meeting = meeting_of(task.sum);
    if (meeting.distance > 0 && are_far(task.arrays.tiles[meeting.i], task.arrays.tiles[meeting.j])) return;
    symmetric_block<Point<float>, field_only, Shape>(task.sum, meeting);
}

} // namespace farfield::cuda
