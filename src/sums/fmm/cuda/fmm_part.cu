#include "sums/fmm/cuda/fmm_part.cuh"

#include "sums/tree/leaf_grid.h"

#include <algorithm>

namespace farfield::cuda {
void FmmPart::prepare(const FmmTask& task, cudaStream_t stream) {
    task_ = task;
    tree_timer_.restart(stream);
    tree_.build(task.sources, task.n, task.targets, task.m, task.frame, task.cube, task.shape.tree,
                task.shape.few, stream);
    with_sums([&](auto& sums) { prepare_sums(sums, stream); });
    tree_timer_.mark("tree", stream);
}

template <class Real>
void FmmPart::prepare_sums(Sums<Real>& sums, cudaStream_t stream) {
    const auto& shape = task_.shape;
    const LeafGrid finest{shape.tree.coarse, tree_.levels() - 1};
    PlainFar<Real> far;
    if (finest.has_far_cells(shape.order.separation))
        far =
            plain_far<Real>(shape.order, task_.softening / tree_.view().width, tree_.levels(), task_.threads);
    multiply_adds_ = 0.0;
    for (int level = 0; level < tree_.levels(); ++level)
        multiply_adds_ +=
            far.multiply_adds(level) * (tree_.level_begin(level + 1) - tree_.level_begin(level));
    sums.passes.prepare(tree_, far, task_.mends, stream);
}

void FmmPart::run(const GivenSources& given, int wanted, cudaStream_t stream) {
    timer_.restart(stream);
    with_sums([&](auto& sums) { run_sums(sums, given, wanted, stream); });
}

template <class Real>
void FmmPart::run_sums(Sums<Real>& sums, const GivenSources& given, int wanted, cudaStream_t stream) {
    const auto m = static_cast<std::size_t>(task_.m);
    const bool has_far = sums.passes.has_far_field(), with_hessian = (wanted & hessian_too) != 0;
    make_room(sums.near, m);
    make_room(far_, has_far ? m : 0);
    make_room(near_hessians_, with_hessian ? 6 * m : 0);
    make_room(far_hessians_, with_hessian && has_far ? 6 * m : 0);
    sums.passes.set_sources(tree_, given, stream);
    timer_.mark("strengths", stream);
    sums.passes.run(
        tree_, task_.softening, wanted,
        {sums.near.data(), far_.data(), near_hessians_.data(), far_hessians_.data()},
        [&](std::string_view name, cudaStream_t at) { timer_.mark(name, at); }, stream);
}

std::vector<RowArray> FmmPart::sums_of(int wanted) {
    std::vector<RowArray> out;
    const auto add = [&](auto& array, std::size_t width) {
        out.push_back({reinterpret_cast<std::byte*>(array.data()), width * sizeof *array.data()});
    };
    with_sums([&](auto& sums) {
        const bool has_far = sums.passes.has_far_field();
        if ((wanted & field_and_potential) != 0) {
            add(sums.near, 1);
            if (has_far) add(far_, 1);
        }
        if ((wanted & hessian_too) == 0) return;
        add(near_hessians_, 6);
        if (has_far) add(far_hessians_, 6);
    });
    return out;
}

void FmmPart::take(FmmPart& other, int wanted, cudaStream_t stream) {
    const auto rows = other.tree_.own_targets();
    const auto to = sums_of(wanted), from = other.sums_of(wanted);
    for (std::size_t k = 0; k < to.size(); ++k) {
        const auto first = static_cast<std::size_t>(rows.begin) * to[k].row_bytes;
        copy(to[k].data + first, from[k].data + first,
             static_cast<std::size_t>(rows.size()) * to[k].row_bytes, stream);
    }
}

} // namespace farfield::cuda
