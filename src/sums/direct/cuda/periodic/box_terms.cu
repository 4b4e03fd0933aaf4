#include "sums/direct/cuda/periodic/box_terms.cuh"

#include "backend/cuda/check.h"
#include "sums/lattice/in_box.h"

#include <algorithm>
#include <numbers>

namespace farfield::cuda {
namespace {

constexpr int threads = 256, moment_blocks = 256, moments = 10;

unsigned blocks_for(std::int64_t n) { return static_cast<unsigned>((n + threads - 1) / threads); }

/// A sum and what its roundings lost.
struct Compensated {
    double sum, rest;

    __host__ __device__ void add(double x) {
        const double t = sum + x;
        rest += fabs(sum) >= fabs(x) ? (sum - t) + x : (x - t) + sum;
        sum = t;
    }
    __host__ __device__ void add(const Compensated& other) {
        add(other.sum);
        rest += other.rest;
    }
};

struct Middle {
    double at[3];
};

/// Each block's moments, sum and rest of each.
__global__ void moments_kernel(BoxPoints points, const double* strengths, Middle middle, double unit,
                               double* partial) {
    Compensated own[moments] = {};
    const double origin[3] = {points.given[0], points.given[1], points.given[2]};
    for (auto i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < points.n;
         i += static_cast<std::int64_t>(moment_blocks) * threads) {
        const double q = strengths[i];
        double square = 0.0, given_square = 0.0;
        for (int k = 0; k < 3; ++k) {
            const double y = points.in_box[3 * i + k] - middle.at[k];
            const double given = unit * (points.given[3 * i + k] - origin[k]);
            own[2 + k].add(q * y);
            own[6 + k].add(q * given);
            square += y * y;
            given_square += given * given;
        }
        own[0].add(q);
        own[1].add(fabs(q));
        own[5].add(q * square);
        own[9].add(q * given_square);
    }
    __shared__ Compensated all[threads];
    for (int which = 0; which < moments; ++which) {
        all[threadIdx.x] = own[which];
        for (unsigned half = threads / 2; half > 0; half /= 2) {
            __syncthreads();
            if (threadIdx.x < half) all[threadIdx.x].add(all[threadIdx.x + half]);
        }
        if (threadIdx.x == 0) {
            partial[2 * (static_cast<int>(blockIdx.x) * moments + which)] = all[0].sum;
            partial[2 * (static_cast<int>(blockIdx.x) * moments + which) + 1] = all[0].rest;
        }
        __syncthreads();
    }
}

__global__ void finish_kernel(BoxResults of, BoxPoints targets) {
    const auto i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (i >= of.m) return;
    Vec4<double> far{0.0, 0.0, 0.0, 0.0};
    if (of.far != nullptr) far = of.far[i];
    double field[3] = {far.x, far.y, far.z};
    if (of.quadratic) {
        const double factor = 4.0 * std::numbers::pi / (3.0 * of.volume);
        double square = 0.0, along = 0.0;
        for (int k = 0; k < 3; ++k) {
            const double x = targets.in_box[3 * i + k] - of.middle[k];
            square += x * x;
            along += x * of.moments.dipole[k];
            field[k] -= factor * (of.moments.total * x - of.moments.dipole[k]);
        }
        far.w += factor * (0.5 * (of.moments.total * square + of.moments.square) - along);
    }
    if (of.vacuum) {
        const double factor = 4.0 * std::numbers::pi / (3.0 * of.volume);
        double along = 0.0;
        for (int k = 0; k < 3; ++k) {
            along += of.unit * (targets.given[3 * i + k] - of.origin[k]) * of.moments.given[k];
            field[k] -= factor * of.moments.given[k];
        }
        far.w += factor * (along - 0.5 * of.moments.given_square);
    }
    if (of.potential != nullptr) {
        const double near = of.home.potential[i] + (of.rim.potential != nullptr ? of.rim.potential[i] : 0.0);
        of.potential[i] = of.unit * (near + of.sign * far.w);
    }
    for (int k = 0; k < 3 && of.field != nullptr; ++k) {
        const double near =
            of.home.field[3 * i + k] + (of.rim.field != nullptr ? of.rim.field[3 * i + k] : 0.0);
        of.field[3 * i + k] = of.unit * of.unit * (near + of.sign * field[k]);
    }
}

struct Box {
    double length[3];
    double low;
};

// What moves across keeps all digits.
__global__ void wrap_kernel(const double* given, std::int64_t n, Box box, int exponent, double* in_box) {
    const auto i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (i >= 3 * n) return;
    const double x = scalbn(given[i], exponent), length = box.length[i % 3];
    const double image = length > 0.0 ? image_in_box(x, length) : x;
    in_box[i] = length > 0.0 && image >= box.low + length ? image - length : image;
}

} // namespace

BoxMoments BoxMomentSums::compute(const BoxPoints& sources, const double* strengths,
                                  const std::array<double, 3>& middle, double unit, cudaStream_t stream) {
    if (sources.n == 0) return {};
    constexpr std::size_t count = std::size_t{2} * moments * moment_blocks;
    make_room(partial_, count);
    host_.resize(count);
    moments_kernel<<<moment_blocks, threads, 0, stream>>>(
        sources, strengths, {{middle[0], middle[1], middle[2]}}, unit, partial_.data());
    check_launch("moments of a box");
    copy(host_.data(), static_cast<const double*>(partial_.data()), count, stream);
    check(cudaStreamSynchronize(stream), "waiting for the GPU");
    Compensated sums[moments] = {};
    for (int block = 0; block < moment_blocks; ++block)
        for (int which = 0; which < moments; ++which) {
            const auto* const from = host_.data() + 2 * (block * moments + which);
            sums[which].add(Compensated{from[0], from[1]});
        }
    const auto value = [&](int which) { return sums[which].sum + sums[which].rest; };
    return {.total = value(0),
            .magnitude = value(1),
            .dipole = {value(2), value(3), value(4)},
            .square = value(5),
            .given = {value(6), value(7), value(8)},
            .given_square = value(9)};
}

void finish(const BoxResults& results, const BoxPoints& targets, cudaStream_t stream) {
    if (results.m == 0) return;
    finish_kernel<<<blocks_for(results.m), threads, 0, stream>>>(results, targets);
    check_launch("results of a box");
}

void wrap_points(const double* given, std::int64_t n, const std::array<double, 3>& length, double low,
                 int exponent, double* in_box, cudaStream_t stream) {
    if (n == 0) return;
    wrap_kernel<<<blocks_for(3 * n), threads, 0, stream>>>(given, n, {{length[0], length[1], length[2]}, low},
                                                           exponent, in_box);
    check_launch("points of a box");
}

} // namespace farfield::cuda
