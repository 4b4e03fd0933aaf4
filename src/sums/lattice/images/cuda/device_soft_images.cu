#include "sums/lattice/images/cuda/device_soft_images.cuh"

#include "backend/cuda/check.h"
#include "sums/tree/cuda/launch.cuh"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <unordered_map>
#include <vector>

namespace farfield::cuda {
namespace {

constexpr int threads = 128, most_powers_of_a_thread = 4, points_at_once = 32, sources_of_a_block = 4;

__device__ int x_of(std::int32_t power) { return power & 1023; }
__device__ int y_of(std::int32_t power) { return power >> 10 & 1023; }
__device__ int z_of(std::int32_t power) { return power >> 20; }

/// From offsets in widths of a cell to the unit of the operator's polynomials, of each axis.
struct Units {
    double of[3];
};

struct MomentsTask {
    SoftPowers powers;
    int group; ///< threads that have all powers, or some; groups take points in turn
    Units units;
    const CellPart* parts;
    const std::int32_t* rows;
    const double *offsets, *strengths;
    double* part_sums;
};

/// Σ q (−v)^b over the points of a part: a block for each part and some powers.
template <int powers_of_a_thread>
__global__ void __launch_bounds__(threads) moments_kernel(const __grid_constant__ MomentsTask task) {
    extern __shared__ double values[]; // x^a, y^b and z^c of points
    const int pitch = (task.powers.degree + 1) | 1, of_axis = points_at_once * pitch;
    const int thread = static_cast<int>(threadIdx.x), of_group = thread % task.group;
    const int group = thread / task.group, groups = threads / task.group;
    const auto part = task.parts[blockIdx.x];
    const int first_power = static_cast<int>(blockIdx.y) * task.group * powers_of_a_thread + of_group;
    double sums[powers_of_a_thread] = {};
    int places[powers_of_a_thread][3];
#pragma unroll
    for (int k = 0; k < powers_of_a_thread; ++k) {
        const int i = first_power + k * task.group;
        const auto power = i < task.powers.size ? task.powers.power[i] : 0;
        places[k][0] = x_of(power);
        places[k][1] = of_axis + y_of(power);
        places[k][2] = 2 * of_axis + z_of(power);
    }
    for (int begin = part.begin; begin < part.end; begin += points_at_once) {
        const int count = min(points_at_once, part.end - begin);
        __syncthreads();
        if (const int axis = thread / points_at_once, j = thread % points_at_once; axis < 3 && j < count) {
            const int at = begin + j;
            const double u = -task.units.of[axis] * task.offsets[3LL * at + axis];
            double value = axis == 0 ? task.strengths[task.rows[at]] : 1.0;
            double* const to = values + axis * of_axis + j * pitch;
            for (int k = 0; k <= task.powers.degree; ++k) {
                to[k] = value;
                value *= u;
            }
        }
        __syncthreads();
        for (int j = group; j < count; j += groups)
#pragma unroll
            for (int k = 0; k < powers_of_a_thread; ++k)
                sums[k] = fma(values[places[k][0] + j * pitch] * values[places[k][1] + j * pitch],
                              values[places[k][2] + j * pitch], sums[k]);
    }
    if (groups > 1) { // of which the first adds up the others' sums
        __syncthreads();
#pragma unroll
        for (int k = 0; k < powers_of_a_thread; ++k) values[k * threads + thread] = sums[k];
        __syncthreads();
        if (group > 0) return;
        for (int other = 1; other < groups; ++other)
#pragma unroll
            for (int k = 0; k < powers_of_a_thread; ++k)
                sums[k] += values[k * threads + other * task.group + of_group];
    }
#pragma unroll
    for (int k = 0; k < powers_of_a_thread; ++k)
        if (const int i = first_power + k * task.group; i < task.powers.size)
            task.part_sums[static_cast<std::int64_t>(blockIdx.x) * task.powers.size + i] = sums[k];
}

/// Queues that with as few threads a group as do.
template <int powers_of_a_thread>
void form_moments(MomentsTask task, int parts, cudaStream_t stream) {
    task.group = 1;
    while (task.group < threads && task.group * powers_of_a_thread < task.powers.size) task.group *= 2;
    const int powers_of_a_block = task.group * powers_of_a_thread;
    const auto pitch = static_cast<std::size_t>((task.powers.degree + 1) | 1);
    const auto numbers = std::max<std::size_t>(3 * points_at_once * pitch, powers_of_a_thread * threads);
    const auto bytes = numbers * sizeof(double);
    check(cudaFuncSetAttribute(moments_kernel<powers_of_a_thread>,
                               cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
          "moments of softened images");
    const auto blocks_a_part =
        static_cast<unsigned>((task.powers.size + powers_of_a_block - 1) / powers_of_a_block);
    moments_kernel<powers_of_a_thread>
        <<<dim3(static_cast<unsigned>(parts), blocks_a_part), threads, bytes, stream>>>(task);
    check_launch("moments of softened images");
}

/// Sums of the parts of each cell, over factorials.
__global__ void add_parts_kernel(SoftPowers powers, int cells, const std::int32_t* first_part,
                                 const double* part_sums, double* moments) {
    const auto at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= static_cast<std::int64_t>(cells) * powers.size) return;
    const auto cell = static_cast<int>(at / powers.size), i = static_cast<int>(at % powers.size);
    double sum = 0.0;
    for (int part = first_part[cell]; part < first_part[cell + 1]; ++part)
        sum += part_sums[static_cast<std::int64_t>(part) * powers.size + i];
    moments[at] = sum / powers.factorials[i];
}

struct OperatorTask {
    SoftPowers powers;
    int cells;
    const std::int32_t *first_part, *kinds;
    const double *series, *moments;
    double* part_locals;
};

/// Σ_b c_(i+b) M_b from some cells to one: a thread for each power.
__global__ void __launch_bounds__(threads) operator_kernel(const __grid_constant__ OperatorTask task) {
    const int i = static_cast<int>(blockIdx.x) * threads + static_cast<int>(threadIdx.x);
    const int target = static_cast<int>(blockIdx.y), most = task.powers.degree, rows = most + 1;
    if (i >= task.powers.size) return;
    const auto power = task.powers.power[i];
    const int ax = x_of(power), ay = y_of(power), az = z_of(power);
    const int first = static_cast<int>(blockIdx.z) * sources_of_a_block;
    const int last = min(first + sources_of_a_block, task.cells);
    double sum = 0.0;
    for (int source = first; source < last; ++source) {
        if (task.first_part[source] == task.first_part[source + 1]) continue; // no points
        const auto kind = task.kinds[static_cast<std::int64_t>(target) * task.cells + source];
        const double* const c = task.series + static_cast<std::int64_t>(kind) * task.powers.size + az;
        const double* const m = task.moments + static_cast<std::int64_t>(source) * task.powers.size;
        const int rest = most - ax - ay - az;
        for (int bx = 0; bx <= rest; ++bx)
            for (int by = 0; by <= rest - bx; ++by) {
                const double* const of = c + task.powers.row[(ax + bx) * rows + ay + by];
                const double* const with = m + task.powers.row[bx * rows + by];
                for (int bz = 0; bz <= rest - bx - by; ++bz) sum = fma(of[bz], with[bz], sum);
            }
    }
    task.part_locals[(static_cast<std::int64_t>(target) * gridDim.z + blockIdx.z) * task.powers.size + i] =
        sum;
}

__global__ void locals_kernel(SoftPowers powers, int cells, int groups, const double* part_locals,
                              double* locals) {
    const auto at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= static_cast<std::int64_t>(cells) * powers.size) return;
    const auto cell = at / powers.size, i = at % powers.size;
    double sum = 0.0;
    for (int group = 0; group < groups; ++group)
        sum += part_locals[(cell * groups + group) * powers.size + i];
    locals[at] = sum / powers.factorials[i];
}

struct EvaluateTask {
    SoftPowers powers;
    Units units, slopes; ///< slopes: of a unit of the operator in the grid's
    const CellPart* parts;
    const std::int32_t* rows;
    const double *offsets, *locals;
    Vec4<double>* out;
};

/// Values at the points of a part, a thread each.
__global__ void __launch_bounds__(threads) evaluate_kernel(const __grid_constant__ EvaluateTask task) {
    const auto part = task.parts[blockIdx.x];
    const double* const local = task.locals + static_cast<std::int64_t>(part.cell) * task.powers.size;
    const int most = task.powers.degree;
    for (int at = part.begin + static_cast<int>(threadIdx.x); at < part.end; at += threads) {
        const double x = task.units.of[0] * task.offsets[3LL * at];
        const double y = task.units.of[1] * task.offsets[3LL * at + 1];
        const double z = task.units.of[2] * task.offsets[3LL * at + 2];
        double potential = 0.0, down[3] = {0.0, 0.0, 0.0};
        double of_x = 1.0, slope_x = 0.0; // x^a and its derivative
        for (int a = 0; a <= most; ++a) {
            double of_y = 1.0, slope_y = 0.0;
            for (int b = 0; b <= most - a; ++b) {
                const double* const row = local + task.powers.row[a * (most + 1) + b];
                double value = 0.0, slope = 0.0;
                for (int c = most - a - b; c >= 0; --c) {
                    slope = fma(slope, z, value);
                    value = fma(value, z, row[c]);
                }
                potential = fma(of_x * of_y, value, potential);
                down[0] = fma(slope_x * of_y, value, down[0]);
                down[1] = fma(of_x * slope_y, value, down[1]);
                down[2] = fma(of_x * of_y, slope, down[2]);
                slope_y = fma(slope_y, y, of_y);
                of_y *= y;
            }
            slope_x = fma(slope_x, x, of_x);
            of_x *= x;
        }
        task.out[task.rows[at]] = {-task.slopes.of[0] * down[0], -task.slopes.of[1] * down[1],
                                   -task.slopes.of[2] * down[2], potential};
    }
}

template <class T>
void upload(const std::vector<T>& values, DeviceArray<T>& to, cudaStream_t stream) {
    make_room(to, values.size());
    copy(to.data(), values.data(), values.size(), stream);
}

} // namespace

void DeviceSoftImages::set_operator(const ImageGrid& grid, const SoftKernel& kernel, const SoftGoal& goal,
                                    int threads_of_host, cudaStream_t stream) {
    const auto wanted = soft_operator(grid, kernel, goal, threads_of_host);
    grid_ = grid;
    view_ = GridView(grid);
    if (wanted == operator_) return;
    operator_ = wanted;
    set_powers(stream);
    set_series(stream);
}

void DeviceSoftImages::set_powers(cudaStream_t stream) {
    const auto& powers = operator_->powers();
    const int most = powers.degree();
    std::vector<std::int32_t> row(static_cast<std::size_t>(most + 1) * static_cast<std::size_t>(most + 1), 0),
        power;
    std::vector<double> factorials;
    for (int a = 0; a <= most; ++a)
        for (int b = 0; b <= most - a; ++b) {
            row[static_cast<std::size_t>(a) * static_cast<std::size_t>(most + 1) +
                static_cast<std::size_t>(b)] = static_cast<std::int32_t>(powers.row(a, b));
            for (int c = 0; c <= most - a - b; ++c) {
                power.push_back(a | b << 10 | c << 20);
                factorials.push_back(std::tgamma(a + 1.0) * std::tgamma(b + 1.0) * std::tgamma(c + 1.0));
            }
        }
    upload(row, row_, stream);
    upload(power, power_, stream);
    upload(factorials, factorials_, stream);
    check(cudaStreamSynchronize(stream), "waiting for the GPU");
    powers_ = {most, static_cast<int>(powers.size()), row_.data(), power_.data(), factorials_.data()};
}

// The series of each kind of pairs once.
void DeviceSoftImages::set_series(cudaStream_t stream) {
    std::unordered_map<const std::vector<double>*, std::int32_t> numbers;
    std::vector<std::int32_t> kinds;
    std::vector<const std::vector<double>*> each;
    for (int target = 0; target < grid_.count(); ++target)
        for (int source = 0; source < grid_.count(); ++source) {
            const auto* const series = &operator_->series(target, source);
            const auto [at, is_new] = numbers.try_emplace(series, static_cast<std::int32_t>(each.size()));
            if (is_new) each.push_back(series);
            kinds.push_back(at->second);
        }
    upload(kinds, kinds_, stream);
    const auto size = operator_->powers().size();
    make_room(series_, size * each.size());
    for (std::size_t k = 0; k < each.size(); ++k)
        copy(series_.data() + k * size, each[k]->data(), size, stream);
    check(cudaStreamSynchronize(stream), "waiting for the GPU");
}

void DeviceSoftImages::set_points(const double* sources, std::int64_t n, const double* targets,
                                  std::int64_t m, cudaStream_t stream) {
    self_ = targets == nullptr;
    sources_.sort(view_, sources, n, stream);
    if (!self_) targets_.sort(view_, targets, m, stream);
}

void DeviceSoftImages::compute(const double* strengths, Vec4<double>* out, cudaStream_t stream) {
    const int cells = grid_.count(), size = powers_.size;
    const int groups = (cells + sources_of_a_block - 1) / sources_of_a_block;
    const auto room = [](auto... factors) { return (static_cast<std::size_t>(factors) * ...); };
    make_room(part_sums_, room(sources_.parts(), size));
    make_room(moments_, room(cells, size));
    make_room(part_locals_, room(cells, groups, size));
    make_room(locals_, room(cells, size));
    Units units{}, slopes{};
    for (std::size_t k = 0; k < 3; ++k) {
        units.of[k] = grid_.width / operator_->sides()[k];
        slopes.of[k] = 1.0 / operator_->sides()[k];
    }
    const auto blocks_for = [](int count, int each) {
        return static_cast<unsigned>((count + each - 1) / each);
    };
    if (sources_.parts() > 0) {
        const MomentsTask task{.powers = powers_,
                               .group = threads,
                               .units = units,
                               .parts = sources_.part_list(),
                               .rows = sources_.rows(),
                               .offsets = sources_.offsets(),
                               .strengths = strengths,
                               .part_sums = part_sums_.data()};
        if (size <= threads)
            form_moments<1>(task, sources_.parts(), stream);
        else
            form_moments<most_powers_of_a_thread>(task, sources_.parts(), stream);
    }
    const std::int64_t numbers = std::int64_t{1} * cells * size;
    launch_over(numbers, stream, add_parts_kernel, powers_, cells, sources_.first_part(),
                static_cast<const double*>(part_sums_.data()), moments_.data());
    operator_kernel<<<dim3(blocks_for(size, threads), static_cast<unsigned>(cells),
                           static_cast<unsigned>(groups)),
                      threads, 0, stream>>>({.powers = powers_,
                                             .cells = cells,
                                             .first_part = sources_.first_part(),
                                             .kinds = kinds_.data(),
                                             .series = series_.data(),
                                             .moments = moments_.data(),
                                             .part_locals = part_locals_.data()});
    check_launch("softened far images");
    launch_over(numbers, stream, locals_kernel, powers_, cells, groups,
                static_cast<const double*>(part_locals_.data()), locals_.data());
    const auto& at = targets();
    if (at.parts() == 0) return;
    evaluate_kernel<<<static_cast<unsigned>(at.parts()), threads, 0, stream>>>({.powers = powers_,
                                                                                .units = units,
                                                                                .slopes = slopes,
                                                                                .parts = at.part_list(),
                                                                                .rows = at.rows(),
                                                                                .offsets = at.offsets(),
                                                                                .locals = locals_.data(),
                                                                                .out = out});
    check_launch("softened far images");
}

} // namespace farfield::cuda
