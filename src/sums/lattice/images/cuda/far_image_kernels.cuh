// The kernels of device_far_images.cu. Complex expansions have all orders, at l² + l + m.
#pragma once

#include "backend/cuda/check.h"
#include "backend/cuda/vec4.h"
#include "sums/expansions/function_values.h"
#include "sums/lattice/images/cell_formulas.h"
#include "sums/lattice/images/cuda/device_far_images.cuh"

#include <cstdint>

namespace farfield::cuda {

constexpr int lanes = 32;
constexpr int form_warps = 2;
constexpr int staged_functions = 32;    ///< that wait for their sums over the lanes
constexpr int staged_pitch = lanes + 1; ///< so that columns lie in different banks
constexpr int evaluate_threads = 128;

struct PartsOfCells {
    const CellPart* parts;
    int count;
    const std::int32_t* rows;
    const double* offsets;
};

static __global__ void cells_kernel(GridView grid, const double* points, std::int64_t n, std::uint32_t* keys,
                                    std::int32_t* rows) {
    const auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int cell[3];
    for (int k = 0; k < 3; ++k) cell[k] = grid.axes[k].cell_of(points[3 * i + k]);
    keys[i] = static_cast<std::uint32_t>(grid.number_of(cell));
    rows[i] = static_cast<std::int32_t>(i);
}

static __global__ void offsets_kernel(GridView grid, const double* points, std::int64_t n,
                                      const std::uint32_t* keys, const std::int32_t* rows, double* offsets) {
    const auto place = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (place >= n) return;
    const double* const at = points + 3 * static_cast<std::int64_t>(rows[place]);
    auto number = static_cast<int>(keys[place]);
    for (int k = 0; k < 3; ++k) {
        const auto& axis = grid.axes[k];
        offsets[3 * place + k] = (at[k] - axis.centre(number % axis.cells)) / grid.width;
        number /= axis.cells;
    }
}

/// The first place of each cell, and the end.
static __global__ void starts_kernel(const std::uint32_t* keys, std::int64_t n, int cells,
                                     std::int32_t* starts) {
    const auto cell = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (cell > cells) return;
    std::int64_t low = 0, high = n;
    while (low < high) {
        const auto middle = (low + high) / 2;
        if (static_cast<std::int64_t>(keys[middle]) < cell)
            low = middle + 1;
        else
            high = middle;
    }
    starts[cell] = static_cast<std::int32_t>(low);
}

/// Σ q·function over the points of a part; a warp each.
static __global__ void form_kernel(FunctionLoop loop, PartsOfCells from, const double* strengths,
                                   double* part_sums) {
    extern __shared__ double form_memory[];
    const int warp = static_cast<int>(threadIdx.x) / lanes, lane = static_cast<int>(threadIdx.x) % lanes;
    const int number = static_cast<int>(blockIdx.x) * form_warps + warp;
    if (number >= from.count) return;
    const int numbers = 2 * loop.pairs;
    double* const sums = form_memory + warp * (numbers + staged_functions * staged_pitch);
    double* const staged = sums + numbers;
    for (int n = lane; n < numbers; n += lanes) sums[n] = 0.0;
    __syncwarp();
    const auto part = from.parts[number];
    for (int begin = part.begin; begin < part.end; begin += lanes) {
        double at[3] = {0.0, 0.0, 0.0}, weight = 0.0;
        if (const int i = begin + lane; i < part.end) {
            for (int k = 0; k < 3; ++k) at[k] = from.offsets[3LL * i + k];
            weight = strengths[from.rows[i]];
        }
        each_harmonic<double>(loop, at[0], at[1], at[2],
                              [&](int t, const double& first, const double& second) {
                                  const int of_first = 2 * t, place = of_first % staged_functions;
                                  staged[place * staged_pitch + lane] = weight * first;
                                  staged[(place + 1) * staged_pitch + lane] = weight * second;
                                  if (place + 2 < staged_functions && of_first + 2 < numbers) return;
                                  __syncwarp();
                                  if (lane <= place + 1) {
                                      double sum = 0.0;
#pragma unroll 8
                                      for (int k = 0; k < lanes; ++k) sum += staged[lane * staged_pitch + k];
                                      sums[of_first - place + lane] += sum;
                                  }
                                  __syncwarp();
                              });
    }
    __syncwarp();
    for (int n = lane; n < numbers; n += lanes)
        part_sums[static_cast<std::int64_t>(number) * numbers + n] = sums[n];
}

inline void form(const FunctionLoop& loop, const PartsOfCells& from, const double* strengths,
                 double* part_sums, cudaStream_t stream) {
    if (from.count == 0) return;
    const auto bytes = static_cast<std::size_t>(form_warps) *
                       static_cast<std::size_t>(2 * loop.pairs + staged_functions * staged_pitch) *
                       sizeof(double);
    form_kernel<<<static_cast<unsigned>((from.count + form_warps - 1) / form_warps), form_warps * lanes,
                  bytes, stream>>>(loop, from, strengths, part_sums);
    check_launch("multipole expansions of a box");
}

/// Conjugates of M_l^m: a block for each cell, a thread for each pair of functions.
static __global__ void multipoles_kernel(FunctionPairs pairs, const std::int32_t* first_part,
                                         const double* part_sums, double2* multipoles) {
    const int t = static_cast<int>(threadIdx.x), cell = static_cast<int>(blockIdx.x);
    if (t >= pairs.count) return;
    double real = 0.0, imag = 0.0;
    for (int part = first_part[cell]; part < first_part[cell + 1]; ++part) {
        const double* const sums = part_sums + (static_cast<std::int64_t>(part) * pairs.count + t) * 2;
        real += sums[0];
        imag += sums[1];
    }
    const int l = pairs.degree[t], m = pairs.of_order[t];
    real /= pairs.form_scale[t];
    imag = m > 0 ? imag / pairs.form_scale[t] : 0.0;
    double2* const to = multipoles + static_cast<std::int64_t>(cell) * (pairs.order + 1) * (pairs.order + 1);
    const double sign = (m & 1) != 0 ? -1.0 : 1.0;
    to[expansion_place(l, m)] = {real, -imag};
    if (m > 0) to[expansion_place(l, -m)] = {sign * real, sign * imag};
}

/// Λ_l^m, all orders.
static __global__ void locals_kernel(FunctionPairs pairs, int groups, const double2* part_locals,
                                     double2* locals) {
    const int t = static_cast<int>(threadIdx.x), cell = static_cast<int>(blockIdx.x);
    if (t >= pairs.count) return;
    double real = 0.0, imag = 0.0;
    for (int group = 0; group < groups; ++group) {
        const double2 one = part_locals[(static_cast<std::int64_t>(cell) * groups + group) * pairs.count + t];
        real += one.x;
        imag += one.y;
    }
    const int l = pairs.degree[t], m = pairs.of_order[t];
    double2* const to = locals + static_cast<std::int64_t>(cell) * (pairs.order + 1) * (pairs.order + 1);
    const double sign = (m & 1) != 0 ? -1.0 : 1.0;
    to[expansion_place(l, m)] = {real, imag};
    if (m > 0) to[expansion_place(l, -m)] = {sign * real, -sign * imag};
}

static __global__ void coefficients_kernel(FunctionPairs pairs, const double2* locals, double* coefficients) {
    const int t = static_cast<int>(threadIdx.x), cell = static_cast<int>(blockIdx.x);
    if (t >= pairs.count) return;
    const double2* const local =
        locals + static_cast<std::int64_t>(cell) * (pairs.order + 1) * (pairs.order + 1);
    double numbers[8];
    set_coefficients(
        pairs.order, pairs.degree[t], pairs.of_order[t], pairs.value_scale[t],
        [&](int place) { return local[place]; }, numbers);
    double* const to = coefficients + (static_cast<std::int64_t>(cell) * pairs.count + t) * 8;
    for (int k = 0; k < 8; ++k) to[k] = numbers[k];
}

/// Values at the points of a part, a thread each.
static __global__ void evaluate_kernel(FunctionLoop loop, PartsOfCells to, const double* coefficients,
                                       double unit, Vec4<double>* out) {
    extern __shared__ double of_cell[];
    const auto part = to.parts[blockIdx.x];
    const int numbers = 8 * loop.pairs;
    for (int n = static_cast<int>(threadIdx.x); n < numbers; n += evaluate_threads)
        of_cell[n] = coefficients[static_cast<std::int64_t>(part.cell) * numbers + n];
    __syncthreads();
    for (int i = part.begin + static_cast<int>(threadIdx.x); i < part.end; i += evaluate_threads) {
        double values[4] = {0.0, 0.0, 0.0, 0.0};
        const double* const at = to.offsets + 3LL * i;
        each_harmonic<double>(loop, at[0], at[1], at[2],
                              [&](int t, const double& first, const double& second) {
                                  const double* const c = of_cell + 8 * t;
                                  for (int k = 0; k < 4; ++k)
                                      values[k] = fma(c[k], first, fma(c[4 + k], second, values[k]));
                              });
        const double square = unit * unit;
        out[to.rows[i]] = {-square * values[1], -square * values[2], -square * values[3], unit * values[0]};
    }
}

inline void evaluate(const FunctionLoop& loop, const PartsOfCells& to, const double* coefficients,
                     double unit, Vec4<double>* out, cudaStream_t stream) {
    if (to.count == 0) return;
    const auto bytes = static_cast<std::size_t>(8 * loop.pairs) * sizeof(double);
    if (bytes > 48 * 1024)
        check(cudaFuncSetAttribute(evaluate_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(bytes)),
              "expansions of far images");
    evaluate_kernel<<<static_cast<unsigned>(to.count), evaluate_threads, bytes, stream>>>(
        loop, to, coefficients, unit, out);
    check_launch("expansions of far images");
}

} // namespace farfield::cuda
