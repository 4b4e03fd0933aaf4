// The kernels of points.cuh.
#pragma once

#include "backend/cuda/check.h"
#include "sums/expansions/function_values.h"
#include "sums/fmm/cuda/points.cuh"

#include <algorithm>

namespace farfield::cuda {

constexpr int lanes = 32;
constexpr int staged_functions = 32;    ///< that wait for their sums over the lanes
constexpr int staged_pitch = lanes + 1; ///< so that columns lie in different banks
constexpr std::size_t most_shared = 200 * 1024;

/// A point from a centre, in widths; with `inverted` x/|x|², and 1/|x| as weight (point_scratch.h).
template <class Real>
struct LocalPoint {
    Real x, y, z, weight;
};

template <class Real>
__device__ __forceinline__ LocalPoint<Real> local_point(const Vec4<double>& p, const double (&centre)[3],
                                                        double width, bool inverted) {
    const double scale = 1.0 / width;
    double u[3] = {(p.x - centre[0]) * scale, (p.y - centre[1]) * scale, (p.z - centre[2]) * scale};
    double weight = 1.0;
    if (inverted) {
        const double r2 = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
        for (double& component : u) component /= r2;
        weight = 1.0 / sqrt(r2);
    }
    return {static_cast<Real>(u[0]), static_cast<Real>(u[1]), static_cast<Real>(u[2]),
            static_cast<Real>(weight)};
}

/// The same of a point that is counted from the centre.
template <class Real>
__device__ __forceinline__ LocalPoint<Real> leaf_point(const Vec4<Real>& p, double width, Real weight) {
    const auto scale = static_cast<Real>(1.0 / width);
    return {p.x * scale, p.y * scale, p.z * scale, weight};
}

__device__ __forceinline__ void find_centre(const TreeView& tree, std::int32_t cell, double (&centre)[3],
                                            double& width) {
    const auto& place = tree.places[cell];
    for (int axis = 0; axis < 3; ++axis) centre[axis] = tree.centre(place, axis);
    width = tree.width_of(place.level);
}

/// Of the cell's image that is nearest to another cell.
__device__ __forceinline__ void find_centre(const TreeView& tree, std::int32_t cell, std::int32_t near,
                                            double (&centre)[3], double& width) {
    const auto& place = tree.places[cell];
    for (int axis = 0; axis < 3; ++axis) centre[axis] = tree.centre(place, axis, tree.places[near]);
    width = tree.width_of(place.level);
}

/// Adds Σ weight·function over `point(i)` of a range to `sums`, 2·pairs numbers in the order of the loop.
template <class Real, Functions kind, class Point>
__device__ void sum_functions(const FunctionLoop& loop, BlockRange range, Real* sums, Real* staged,
                              const Point& point) {
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    const int numbers = 2 * loop.pairs;
    for (int begin = range.begin; begin < range.end; begin += lanes) {
        LocalPoint<Real> at{0, 0, 0, 0};
        if (const int i = begin + lane; i < range.end) at = point(i);
        each_function<kind, Real>(loop, at.x, at.y, at.z, [&](int t, const Real& first, const Real& second) {
            const int number = 2 * t;
            const int place = number % staged_functions;
            staged[place * staged_pitch + lane] = at.weight * first;
            staged[(place + 1) * staged_pitch + lane] = at.weight * second;
            if (place + 2 < staged_functions && number + 2 < numbers) return;
            __syncwarp();
            if (lane <= place + 1) {
                Real sum = 0;
#pragma unroll 8
                for (int k = 0; k < lanes; ++k) sum += staged[lane * staged_pitch + k];
                sums[number - place + lane] += sum;
            }
            __syncwarp();
        });
    }
}

/// Shared memory of a warp: 2·pairs sums, and what is staged.
template <class Real>
constexpr std::size_t form_bytes(int pairs) {
    return static_cast<std::size_t>(2 * pairs + staged_functions * staged_pitch) * sizeof(Real);
}

template <class Real, Functions kind, bool inverted>
__global__ void form_kernel(const PointsToExpansions<Real> task) {
    extern __shared__ unsigned char form_memory[];
    const int warp = static_cast<int>(threadIdx.x) / lanes;
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    const int number = static_cast<int>(blockIdx.x) * (static_cast<int>(blockDim.x) / lanes) + warp;
    if (number >= task.count) return;
    const int numbers = 2 * task.functions.loop.pairs;
    Real* const sums =
        reinterpret_cast<Real*>(form_memory) + warp * (numbers + staged_functions * staged_pitch);
    Real* const staged = sums + numbers;
    const auto cell = task.cells != nullptr ? task.cells[number] : number;
    int first = 0;
    int last = 1;
    if constexpr (inverted) {
        first = task.rows.first[number];
        last = task.rows.first[number + 1];
        if (first == last || task.tree.targets[cell].size() == 0) return;
    } else if (task.own_only && !task.tree.forms(cell)) {
        return;
    }
    for (int n = lane; n < numbers; n += lanes) sums[n] = 0;
    __syncwarp();
    double centre[3], width = 0.0;
    for (int k = first; k < last; ++k) {
        const auto of = inverted ? task.rows.partners[k] : cell;
        find_centre(task.tree, cell, of, centre, width);
        sum_functions<Real, kind>(task.functions.loop, task.tree.sources[of], sums, staged, [&](int i) {
            if constexpr (!inverted) {
                const auto p = task.leaf_points[i];
                return leaf_point(p, width, p.w);
            } else {
                const auto p = task.points[i];
                auto at = local_point<Real>(p, centre, width, true);
                at.weight *= static_cast<Real>(p.w);
                return at;
            }
        });
    }
    __syncwarp();
    Real* const out = task.expansions + static_cast<std::int64_t>(cell) * task.stride;
    if constexpr (!inverted)
        for (int n = lane; n < task.stride; n += lanes) out[n] = 0; // the padding, too
    __syncwarp();
    for (int n = lane; n < numbers; n += lanes)
        if (const auto place = task.functions.places[n]; place >= 0) {
            if constexpr (inverted)
                out[place] += sums[n];
            else
                out[place] = sums[n];
        }
}

/// An expansion's values at the targets of a leaf; a multipole expansion's (`inverted`), or where the task
/// says so, are added to what is there. `coefficients`: four of each function.
template <class Real, Functions kind>
__device__ void add_values(const ExpansionsToPoints<Real>& task, std::int32_t leaf, std::int32_t cell,
                           bool inverted, Real* coefficients) {
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    const auto& functions = task.functions;
    const int numbers = 2 * functions.loop.pairs;
    const Real* const expansion = task.expansions + static_cast<std::int64_t>(cell) * task.stride;
    const int sets = task.with_field ? 4 : 1;
    __syncwarp();
    for (int n = lane; n < 4 * numbers; n += lanes) {
        const int set = n / numbers;
        const int function = n % numbers;
        Real sum = 0;
        if (set < sets)
            for (int k = functions.set_first[n]; k < functions.set_first[n + 1]; ++k)
                sum = fma(functions.set_weight[k], expansion[functions.set_from[k]], sum);
        coefficients[4 * function + set] = sum;
    }
    __syncwarp();
    double centre[3], width = 0.0;
    find_centre(task.tree, cell, leaf, centre, width);
    const auto range = task.tree.targets[leaf];
    for (int begin = range.begin; begin < range.end; begin += lanes) {
        const int i = begin + lane;
        LocalPoint<Real> at{0, 0, 0, 0};
        if (i < range.end)
            at = inverted ? local_point<Real>(task.points[i], centre, width, true)
                          : leaf_point(task.leaf_points[i], width, Real(1));
        Real sum[4] = {0, 0, 0, 0};
        each_function<kind, Real>(functions.loop, at.x, at.y, at.z,
                                  [&](int t, const Real& first, const Real& second) {
                                      const Real* const c = coefficients + 8 * t;
#pragma unroll
                                      for (int set = 0; set < 4; ++set)
                                          sum[set] = fma(c[4 + set], second, fma(c[set], first, sum[set]));
                                  });
        if (i >= range.end) continue;
        const double potential = static_cast<double>(at.weight) / width;
        const double field = -potential / width;
        if (task.hessians != nullptr) {
            double* const hessian = task.hessians + 6LL * i;
            for (int set = 0; set < 4 && 4 * task.group + set < 6; ++set) {
                const double before = inverted || task.adds ? hessian[4 * task.group + set] : 0.0;
                hessian[4 * task.group + set] = before - field / width * static_cast<double>(sum[set]);
            }
            continue;
        }
        Vec4<double> out{field * static_cast<double>(sum[1]), field * static_cast<double>(sum[2]),
                         field * static_cast<double>(sum[3]), potential * static_cast<double>(sum[0])};
        if (inverted || task.adds) {
            const auto before = task.sums[i];
            out = {before.x + out.x, before.y + out.y, before.z + out.z, before.w + out.w};
        }
        task.sums[i] = out;
    }
}

template <class Real, Functions kind, bool inverted>
__global__ void evaluate_kernel(const ExpansionsToPoints<Real> task) {
    extern __shared__ unsigned char evaluate_memory[];
    const int warp = static_cast<int>(threadIdx.x) / lanes;
    const int number = static_cast<int>(blockIdx.x) * (static_cast<int>(blockDim.x) / lanes) + warp;
    if (number >= task.count) return;
    Real* const coefficients =
        reinterpret_cast<Real*>(evaluate_memory) + warp * 8 * task.functions.loop.pairs;
    const auto leaf = task.leaves[number];
    if (task.tree.targets[leaf].size() == 0) return;
    if constexpr (inverted) {
        for (auto k = task.rows.first[number]; k < task.rows.first[number + 1]; ++k)
            add_values<Real, kind>(task, leaf, task.rows.partners[k], true, coefficients);
    } else {
        add_values<Real, kind>(task, leaf, leaf, false, coefficients);
    }
}

/// A warp for each of `count` things, as many in a block as shared memory has room for.
template <class Task>
void launch_warps(void (*kernel)(Task), const Task& task, int count, std::size_t bytes_a_warp,
                  cudaStream_t stream) {
    if (count == 0) return;
    const auto fit = std::max<std::size_t>(1, 48 * 1024 / std::max<std::size_t>(1, bytes_a_warp));
    const auto warps = static_cast<unsigned>(std::min<std::size_t>(4, fit));
    const auto bytes = warps * bytes_a_warp;
    if (bytes > 48 * 1024)
        check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(most_shared)),
              "asking for shared memory");
    const auto blocks = (static_cast<unsigned>(count) + warps - 1) / warps;
    kernel<<<blocks, warps * lanes, bytes, stream>>>(task);
    check_launch("a pass over points");
}

template <class Real, Functions kind, bool inverted>
void launch_form(const PointsToExpansions<Real>& task, cudaStream_t stream) {
    launch_warps(form_kernel<Real, kind, inverted>, task, task.count,
                 form_bytes<Real>(task.functions.loop.pairs), stream);
}

template <class Real>
void form_multipoles(const PointsToExpansions<Real>& task, cudaStream_t stream) {
    if (task.functions.loop.functions == Functions::harmonics)
        launch_form<Real, Functions::harmonics, false>(task, stream);
    else
        launch_form<Real, Functions::polynomials, false>(task, stream);
}

template <class Real>
void add_points(const PointsToExpansions<Real>& task, cudaStream_t stream) {
    launch_form<Real, Functions::harmonics, true>(task, stream);
}

template <class Real, Functions kind, bool inverted>
void launch_evaluate(const ExpansionsToPoints<Real>& task, cudaStream_t stream) {
    launch_warps(evaluate_kernel<Real, kind, inverted>, task, task.count,
                 8 * static_cast<std::size_t>(task.functions.loop.pairs) * sizeof(Real), stream);
}

template <class Real>
void evaluate_locals(const ExpansionsToPoints<Real>& task, cudaStream_t stream) {
    if (task.functions.loop.functions == Functions::harmonics)
        launch_evaluate<Real, Functions::harmonics, false>(task, stream);
    else
        launch_evaluate<Real, Functions::polynomials, false>(task, stream);
}

template <class Real>
void evaluate_multipoles(const ExpansionsToPoints<Real>& task, cudaStream_t stream) {
    launch_evaluate<Real, Functions::harmonics, true>(task, stream);
}

} // namespace farfield::cuda
