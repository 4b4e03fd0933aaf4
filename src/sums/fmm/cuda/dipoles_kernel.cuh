// Dipoles into expansions on a GPU, which act as −p·∇ of a unit charge does where it moves: with lengths in
// widths h,
//     P2M  M_i = Σ p/h·∇R_i(v),   P2L  L_i = Σ p/h·∇I_i(v),   I_i(v) = R_i(v/|v|²)/|v|,
// axis by axis: sums of the functions that gradients lead to, then the rows of `gradients`.
#pragma once

#include "sums/fmm/cuda/points_kernel.cuh"

namespace farfield::cuda {

template <class Real, Functions kind, bool inverted>
__global__ void dipole_kernel(const PointsToExpansions<Real> task) {
    extern __shared__ unsigned char dipole_memory[];
    const int warp = static_cast<int>(threadIdx.x) / lanes;
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    const int number = static_cast<int>(blockIdx.x) * (static_cast<int>(blockDim.x) / lanes) + warp;
    if (number >= task.count) return;
    const auto& functions = task.functions;
    const int numbers = 2 * functions.loop.pairs;
    Real* const sums =
        reinterpret_cast<Real*>(dipole_memory) + warp * (numbers + staged_functions * staged_pitch);
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
    double centre[3], width = 0.0;
    find_centre(task.tree, cell, centre, width);
    Real* const out = task.expansions + static_cast<std::int64_t>(cell) * task.stride;
    for (int axis = 0; axis < 3; ++axis) {
        for (int n = lane; n < numbers; n += lanes) sums[n] = 0;
        __syncwarp();
        for (int k = first; k < last; ++k)
            sum_functions<Real, kind>(
                functions.loop, task.tree.sources[inverted ? task.rows.partners[k] : cell], sums, staged,
                [&](int i) {
                    const auto& p = task.dipoles[i];
                    auto at = local_point<Real>(task.points[i], centre, width, inverted);
                    at.weight *= static_cast<Real>((axis == 0 ? p.x : axis == 1 ? p.y : p.z) / width);
                    return at;
                });
        __syncwarp();
        for (int place = lane; place < task.size; place += lanes) {
            const auto* row = functions.gradient_first + axis * task.size + place;
            Real sum = out[place];
            for (int k = row[0]; k < row[1]; ++k)
                sum = fma(functions.gradient_weight[k], sums[functions.gradient_from[k]], sum);
            out[place] = sum;
        }
        __syncwarp();
    }
}

template <class Real, Functions kind, bool inverted>
void launch_dipoles(const PointsToExpansions<Real>& task, cudaStream_t stream) {
    launch_warps(dipole_kernel<Real, kind, inverted>, task, task.count,
                 form_bytes<Real>(task.functions.loop.pairs), stream);
}

template <class Real>
void add_dipoles(const PointsToExpansions<Real>& task, bool to_locals, cudaStream_t stream) {
    if (to_locals)
        launch_dipoles<Real, Functions::harmonics, true>(task, stream);
    else if (task.functions.loop.functions == Functions::harmonics)
        launch_dipoles<Real, Functions::harmonics, false>(task, stream);
    else
        launch_dipoles<Real, Functions::polynomials, false>(task, stream);
}

} // namespace farfield::cuda
