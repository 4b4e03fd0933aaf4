#include "sums/fmm/cuda/periodic_level.cuh"

#include "backend/cuda/check.h"
#include "sums/lattice/images/cell_formulas.h"

#include <cstdint>

namespace farfield::cuda {
namespace {

/// Expansions of level 0: a block for each of its places, x fastest, as cells of an ImageGrid are numbered; a
/// thread for each pair of functions.
template <class Real>
struct LevelTask {
    FunctionPairs pairs;
    TreeView tree;
    const std::int32_t* places; ///< of functions in an expansion: cosine and sine of each pair
    int stride;
};

template <class Real>
__global__ void to_complex_kernel(const LevelTask<Real> task, const Real* multipoles, double2* out) {
    const int t = static_cast<int>(threadIdx.x);
    const auto& pairs = task.pairs;
    if (t >= pairs.count) return;
    const auto cell = task.tree.coarse_cells[blockIdx.x];
    const bool sends = cell != TreeView::none && task.tree.sources[cell].size() > 0;
    const auto number = [&](int place) {
        const bool there = sends && place >= 0;
        return there ? static_cast<double>(multipoles[std::int64_t{cell} * task.stride + place]) : 0.0;
    };
    const double real = number(task.places[2 * t]) / pairs.form_scale[t];
    const double imag = number(task.places[2 * t + 1]) / pairs.form_scale[t];
    const int l = pairs.degree[t], m = pairs.of_order[t];
    double2* const to = out + static_cast<std::int64_t>(blockIdx.x) * (pairs.order + 1) * (pairs.order + 1);
    const double sign = (m & 1) != 0 ? -1.0 : 1.0;
    to[expansion_place(l, m)] = {real, -imag};
    if (m > 0) to[expansion_place(l, -m)] = {sign * real, sign * imag};
}

template <class Real>
__global__ void add_complex_kernel(const LevelTask<Real> task, const double2* part_locals, int parts,
                                   Real* locals) {
    const int t = static_cast<int>(threadIdx.x);
    const auto& pairs = task.pairs;
    const auto cell = task.tree.coarse_cells[blockIdx.x];
    if (t >= pairs.count || cell == TreeView::none) return;
    double real = 0.0, imag = 0.0;
    for (int part = 0; part < parts; ++part) {
        const auto one =
            part_locals[(static_cast<std::int64_t>(blockIdx.x) * parts + part) * pairs.count + t];
        real += one.x;
        imag += one.y;
    }
    Real* const to = locals + std::int64_t{cell} * task.stride;
    const double scale = pairs.value_scale[t];
    if (const auto place = task.places[2 * t]; place >= 0) to[place] += static_cast<Real>(scale * real);
    if (const auto place = task.places[2 * t + 1]; place >= 0) to[place] += static_cast<Real>(scale * imag);
}

} // namespace

template <class Real>
void PeriodicLevel::add(const TreeView& tree, const FunctionsView<Real>& functions, const Real* multipoles,
                        int stride, Real* locals, cudaStream_t stream) {
    const LevelTask<Real> task{operator_.pairs(), tree, functions.places, stride};
    const auto cells = static_cast<unsigned>(operator_.cells());
    const auto threads = static_cast<unsigned>((task.pairs.count + 31) / 32 * 32);
    to_complex_kernel<<<cells, threads, 0, stream>>>(task, multipoles, operator_.multipoles());
    check_launch("expansions of far images");
    operator_.apply(nullptr, stream);
    add_complex_kernel<<<cells, threads, 0, stream>>>(task, operator_.part_locals(), operator_.groups(),
                                                      locals);
    check_launch("expansions of far images");
}

template void PeriodicLevel::add(const TreeView&, const FunctionsView<float>&, const float*, int, float*,
                                 cudaStream_t);
template void PeriodicLevel::add(const TreeView&, const FunctionsView<double>&, const double*, int, double*,
                                 cudaStream_t);

} // namespace farfield::cuda
