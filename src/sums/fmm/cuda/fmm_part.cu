#include "sums/fmm/cuda/fmm_part.cuh"

#include "sums/tree/leaf_grid.h"

#include <algorithm>

namespace farfield::cuda {
namespace {

/// Rows of the order of the tree, `width` elements each.
template <class T>
void copy_rows(T* to, const T* from, BlockRange rows, std::size_t width, cudaStream_t stream) {
    const auto first = width * static_cast<std::size_t>(rows.begin);
    copy(to + first, from + first, width * static_cast<std::size_t>(rows.size()), stream);
}

} // namespace

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

void FmmPart::take(const FmmPart& other, int wanted, cudaStream_t stream) {
    if (task_.shape.wide)
        take_sums(wide_, other.wide_, other, wanted, stream);
    else
        take_sums(narrow_, other.narrow_, other, wanted, stream);
}

template <class Real>
void FmmPart::take_sums(Sums<Real>& to, const Sums<Real>& from, const FmmPart& other, int wanted,
                        cudaStream_t stream) {
    const auto rows = other.tree_.own_targets();
    if (rows.size() == 0) return;
    const bool has_far = to.passes.has_far_field();
    if ((wanted & field_and_potential) != 0) {
        copy_rows(to.near.data(), from.near.data(), rows, 1, stream);
        if (has_far) copy_rows(far_.data(), other.far_.data(), rows, 1, stream);
    }
    if ((wanted & hessian_too) == 0) return;
    copy_rows(near_hessians_.data(), other.near_hessians_.data(), rows, 6, stream);
    if (has_far) copy_rows(far_hessians_.data(), other.far_hessians_.data(), rows, 6, stream);
}

} // namespace farfield::cuda
