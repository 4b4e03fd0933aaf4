// Structure factors: a block for each tile of waves and each part of the points. Phases of a few points lie
// in shared memory; a thread has some rows of waves, and a few n_x of each.
#include "backend/cuda/check.h"
#include "sums/ewald/cuda/wave_task.cuh"
#include "sums/tree/cuda/launch.cuh"

#include <algorithm>
#include <cstddef>

namespace farfield::cuda {
namespace {

constexpr int columns = columns_of_a_tile, pitch_of_columns = columns + 1;
constexpr int most_points = 16;
constexpr std::size_t shared_bytes = 16 * 1024, most_shared = 200 * 1024;

__global__ void phases_kernel(PhasesOfBatch phases, double unit_x, double unit_y, double unit_z,
                              const Vec4<double>* points) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= 3 * phases.count) return;
    const int axis = i / phases.count, point = i % phases.count;
    const auto p = points[point];
    const double angle = axis == 0 ? unit_x * p.x : axis == 1 ? unit_y * p.y : unit_z * p.z;
    Phase* const out = phases.at + static_cast<std::int64_t>(phases.first[axis]) * phases.pitch + point;
    write_phases(angle, phases.last[axis],
                 [&](int n) -> Phase& { return out[static_cast<std::int64_t>(n) * phases.pitch]; });
}

/// In shared memory: phases of some points, of a tile's n_x, and of all n_y ≥ 0 and n_z ≥ 0. Odd pitches keep
/// the points' phases in different banks.
struct Staging {
    int points, pitch_y, pitch_z;

    explicit Staging(const PhasesOfBatch& phases)
        : points(most_points), pitch_y((phases.last[1] + 1) | 1), pitch_z((phases.last[2] + 1) | 1) {
        while (points > 1 && bytes() > (points > 2 ? shared_bytes : most_shared)) points /= 2;
    }
    [[nodiscard]] std::size_t bytes() const {
        return static_cast<std::size_t>(points) *
               static_cast<std::size_t>(pitch_of_columns + pitch_y + pitch_z) * sizeof(Phase);
    }
};

/// Which number of an axis, and whether its conjugate.
struct Signed {
    int place, sign;

    __device__ explicit Signed(int n)
        : place(n < 0 ? -n : n), sign(n < 0 ? static_cast<int>(0x80000000U) : 0) {}
    [[nodiscard]] __device__ Phase of(const Phase* phases) const {
        const Phase found = phases[place];
        return {found.re, __hiloint2double(__double2hiint(found.im) ^ sign, __double2loint(found.im))};
    }
};

__global__ void __launch_bounds__(structure_threads)
    structure_kernel(const __grid_constant__ StructureTask task, const Staging staging) {
    extern __shared__ Phase shared[];
    Phase* const of_x = shared;
    Phase* const of_y = of_x + staging.points * pitch_of_columns;
    Phase* const of_z = of_y + staging.points * staging.pitch_y;
    const auto& phases = task.phases;
    const auto tile = task.tiles[blockIdx.x];
    const int thread = static_cast<int>(threadIdx.x);
    const auto row_of = [&](int r) {
        const int of_tile = thread + r * structure_threads;
        return task.rows[tile.first_row + (of_tile < tile.rows ? of_tile : 0)];
    };
    const WaveRow rows[rows_of_a_thread] = {row_of(0), row_of(1)};
    const Signed y[rows_of_a_thread] = {Signed(rows[0].y), Signed(rows[1].y)};
    const Signed z[rows_of_a_thread] = {Signed(rows[0].z), Signed(rows[1].z)};
    Phase sums[rows_of_a_thread][columns]; // of e^(ik·y); what is wanted is the conjugate
    Phase* const out = task.structure + static_cast<std::int64_t>(blockIdx.y) * task.waves;
    const auto each_wave = [&](auto&& visit) {
#pragma unroll
        for (int r = 0; r < rows_of_a_thread; ++r)
#pragma unroll
            for (int c = 0; c < columns; ++c)
                if (thread + r * structure_threads < tile.rows && tile.first_x + c <= rows[r].last_x)
                    visit(out[rows[r].first + tile.first_x + c], sums[r][c]);
    };
    if (task.adds) each_wave([](const Phase& from, Phase& sum) { sum = {from.re, -from.im}; });
    const auto place = [&](std::int64_t part) {
        return static_cast<int>(std::int64_t{phases.count} * part / task.parts);
    };
    const int end = place(blockIdx.y + 1);
    for (int first = place(blockIdx.y); first < end; first += staging.points) {
        const int count = min(staging.points, end - first);
        __syncthreads();
        const auto stage = [&](int number_of, int how_many, Phase* to, int pitch, bool weighted) {
            for (int i = thread; i < staging.points * how_many; i += structure_threads) {
                const int j = i % staging.points, n = i / staging.points;
                if (j >= count) continue;
                Phase phase = phases.at[static_cast<std::int64_t>(number_of + n) * phases.pitch + first + j];
                if (weighted) {
                    const double q = task.strengths[first + j];
                    phase = {q * phase.re, q * phase.im};
                }
                to[j * pitch + n] = phase;
            }
        };
        stage(phases.first[0] + tile.first_x, min(columns, phases.last[0] + 1 - tile.first_x), of_x,
              pitch_of_columns, false);
        stage(phases.first[1], phases.last[1] + 1, of_y, staging.pitch_y, false);
        stage(phases.first[2], phases.last[2] + 1, of_z, staging.pitch_z, true);
        __syncthreads();
        for (int j = 0; j < count; ++j) {
            Phase weight[rows_of_a_thread];
#pragma unroll
            for (int r = 0; r < rows_of_a_thread; ++r)
                weight[r] = product(y[r].of(of_y + j * staging.pitch_y), z[r].of(of_z + j * staging.pitch_z));
#pragma unroll
            for (int c = 0; c < columns; ++c) {
                const Phase x = of_x[j * pitch_of_columns + c];
#pragma unroll
                for (int r = 0; r < rows_of_a_thread; ++r) {
                    auto& sum = sums[r][c];
                    sum.re = fma(weight[r].re, x.re, fma(-weight[r].im, x.im, sum.re));
                    sum.im = fma(weight[r].re, x.im, fma(weight[r].im, x.re, sum.im));
                }
            }
        }
    }
    each_wave([](Phase& to, const Phase& sum) { to = {sum.re, -sum.im}; });
}

__global__ void coefficients_kernel(const Phase* structure, int parts, const double* factors,
                                    std::int64_t waves, Phase* coefficients) {
    const auto wave = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (wave >= waves) return;
    Phase sum;
    for (int part = 0; part < parts; ++part) {
        const Phase one = structure[part * waves + wave];
        sum = {sum.re + one.re, sum.im + one.im};
    }
    coefficients[wave] = {factors[wave] * sum.re, factors[wave] * sum.im};
}

} // namespace

void set_phases(const PhasesOfBatch& phases, const double (&unit)[3], const Vec4<double>* points,
                cudaStream_t stream) {
    launch_over(std::int64_t{3} * phases.count, stream, phases_kernel, phases, unit[0], unit[1], unit[2],
                points);
}

void add_structure(const StructureTask& task, cudaStream_t stream) {
    const Staging staging(task.phases);
    const auto bytes = staging.bytes();
    check(cudaFuncSetAttribute(structure_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes)),
          "structure factors");
    const dim3 blocks(static_cast<unsigned>(task.tile_count), static_cast<unsigned>(task.parts));
    structure_kernel<<<blocks, structure_threads, bytes, stream>>>(task, staging);
    check_launch("structure factors");
}

void set_coefficients(const Phase* structure, int parts, const double* factors, std::int64_t waves,
                      Phase* coefficients, cudaStream_t stream) {
    launch_over(waves, stream, coefficients_kernel, structure, parts, factors, waves, coefficients);
}

} // namespace farfield::cuda
