#include "sums/fmm/cuda/fmm_part.cuh"

#include "sums/fmm/periodic_level.h"
#include "sums/tree/leaf_grid.h"

#include <algorithm>

namespace farfield::cuda {
namespace {

void copy_all_rows(const std::vector<RowArray>& to, const std::vector<RowArray>& from, BlockRange rows,
                   cudaStream_t stream) {
    for (std::size_t k = 0; k < to.size(); ++k)
        copy_rows(to[k], from[k], static_cast<std::size_t>(rows.begin), static_cast<std::size_t>(rows.end),
                  stream);
}

template <class T>
RowArray rows_of(DeviceArray<T>& array, std::size_t width) {
    return {reinterpret_cast<std::byte*>(array.data()), width * sizeof(T)};
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
    const bool periodic = tree_.view().is_periodic();
    const LeafGrid finest{shape.tree.coarse, tree_.levels() - 1, 3, periodic};
    const bool serves_images = periodic && task_.with_far_images; // by harmonics
    PlainFar<Real> far;
    if (finest.has_far_cells(shape.order.separation))
        far = plain_far<Real>(shape.order, task_.softening / tree_.view().width, tree_.levels(),
                              serves_images ? 1 : 0, task_.threads);
    if (serves_images)
        far.images = image_operator(periodic_level(shape.tree.coarse, shape.order.separation),
                                    shape.order.order, task_.threads);
    multiply_adds_ = 0.0;
    for (int level = 0; level < tree_.levels(); ++level)
        multiply_adds_ +=
            far.multiply_adds(level) * (tree_.level_begin(level + 1) - tree_.level_begin(level));
    if (far.images != nullptr) multiply_adds_ += far.images->work();
    sums.passes.prepare(tree_, far, task_.mends, task_.shares_multipoles, stream);
}

void FmmPart::place(const GivenSources& given, cudaStream_t stream) {
    timer_.restart(stream);
    with_sums([&](auto& sums) { sums.passes.set_sources(tree_, given, stream); });
    timer_.mark("strengths", stream);
}

void FmmPart::form(int wanted, cudaStream_t stream) {
    with_sums([&](auto& sums) { form_sums(sums, wanted, stream); });
}

template <class Real>
void FmmPart::form_sums(Sums<Real>& sums, int wanted, cudaStream_t stream) {
    const auto m = static_cast<std::size_t>(task_.m);
    const bool has_far = sums.passes.has_far_field(), with_hessian = (wanted & hessian_too) != 0;
    make_room(sums.near, m);
    make_room(far_, has_far ? m : 0);
    make_room(near_hessians_, with_hessian ? 6 * m : 0);
    make_room(far_hessians_, with_hessian && has_far ? 6 * m : 0);
    sums.passes.form(tree_, task_.softening, wanted, places_of(sums), marking(), stream);
}

void FmmPart::finish(int wanted, cudaStream_t stream) {
    with_sums([&](auto& sums) { sums.passes.finish(tree_, wanted, places_of(sums), marking(), stream); });
}

void FmmPart::take_multipoles(FmmPart& other) {
    if (!has_far_field()) return;
    const auto stream = far_stream();
    other.with_sums([&](auto& sums) { sums.passes.hold_for_multipoles(stream); });
    const auto to = multipoles(), from = other.multipoles();
    for (const auto& cells : other.tree_.own_leaves()) copy_all_rows(to, from, cells, stream);
    timer_.mark("multipoles", stream);
}

std::vector<RowArray> FmmPart::multipoles() {
    return with_sums([](auto& sums) { return sums.passes.multipoles(); });
}

cudaStream_t FmmPart::far_stream() {
    return with_sums([](auto& sums) { return sums.passes.far_stream(); });
}

std::vector<RowArray> FmmPart::near_sums(int wanted) {
    return with_sums([&](auto& sums) {
        std::vector<RowArray> out;
        if ((wanted & field_and_potential) != 0) out.push_back(rows_of(sums.near, 1));
        if ((wanted & hessian_too) != 0) out.push_back(rows_of(near_hessians_, 6));
        return out;
    });
}

std::vector<RowArray> FmmPart::far_sums(int wanted) {
    std::vector<RowArray> out;
    if (!has_far_field()) return out;
    if ((wanted & field_and_potential) != 0) out.push_back(rows_of(far_, 1));
    if ((wanted & hessian_too) != 0) out.push_back(rows_of(far_hessians_, 6));
    return out;
}

void FmmPart::take(FmmPart& other, int wanted, cudaStream_t early, cudaStream_t stream) {
    const auto rows = other.tree_.own_targets();
    if (has_far_field()) {
        other.hold_for_far_field(early);
        copy_all_rows(far_sums(wanted), other.far_sums(wanted), rows, early);
        other.far_taken_.record(early);
    }
    copy_all_rows(near_sums(wanted), other.near_sums(wanted), rows, stream);
    if (has_far_field()) other.far_taken_.hold(stream);
}

} // namespace farfield::cuda
