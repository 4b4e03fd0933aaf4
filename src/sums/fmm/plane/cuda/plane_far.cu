// PlaneFar: operators on the GPU, and the order of the passes.
#include "sums/fmm/plane/cuda/plane_far.cuh"

#include <algorithm>
#include <vector>

namespace farfield::cuda {
namespace {

bool same(const LaurentOrder& a, const LaurentOrder& b) {
    return a.order == b.order && a.separation == b.separation && a.coarse == b.coarse && a.grading == b.grading;
}

template <class T>
void upload(const std::vector<T>& from, DeviceArray<T>& to, cudaStream_t stream) {
    make_room(to, from.size());
    copy(to.data(), from.data(), from.size(), stream);
}

} // namespace

void PlaneFar::prepare(const DeviceTree& tree, const LaurentOrder& order, cudaStream_t stream) {
    has_cells_ = true;
    if (!host_ || !same(order, order_)) {
        host_.emplace(order);
        order_ = order;
        upload(host_->matrix, matrix_, stream);
        upload(host_->up, up_, stream);
        upload(host_->down, down_, stream);
        upload(host_->reciprocals, reciprocals_, stream);
        upload(host_->senders, senders_, stream);
        upload(host_->in, in_, stream);
        upload(host_->out, out_, stream);
        upload(host_->up_in, up_in_, stream);
        upload(host_->up_out, up_out_, stream);
        upload(host_->down_in, down_in_, stream);
        upload(host_->down_out, down_out_, stream);
    }
    const auto cells = static_cast<std::size_t>(tree.cells());
    make_room(multipoles_, cells * static_cast<std::size_t>(host_->columns()), cells);
    make_room(locals_, cells * static_cast<std::size_t>(host_->local_size), cells);
}

PlaneOperatorsView PlaneFar::operators() const {
    PlaneOperatorsView out;
    out.order = host_->order;
    out.row_tiles = host_->row_tiles;
    out.column_steps = host_->column_steps;
    out.columns = host_->columns();
    out.rows = host_->rows();
    out.local_size = host_->local_size;
    out.shift_size = host_->shift_size;
    out.matrix = matrix_.data();
    out.senders = senders_.data();
    out.in = in_.data();
    out.out = out_.data();
    out.up = up_.data();
    out.down = down_.data();
    out.reciprocals = reciprocals_.data();
    out.up_in = up_in_.data();
    out.up_out = up_out_.data();
    out.down_in = down_in_.data();
    out.down_out = down_out_.data();
    std::copy(host_->to_child.begin(), host_->to_child.end(), out.to_child);
    std::copy(host_->first_sender.begin(), host_->first_sender.end(), out.first_sender);
    return out;
}

double PlaneFar::multiply_adds(const DeviceTree& tree, int sets) const {
    double sum = 0.0;
    std::size_t at = 0;
    for (int level = 0; level < tree.levels(); ++level)
        for (int octant = 0; octant < 8; ++octant, ++at) {
            if (octant >= plane_quadrants) continue;
            const int group = level == 0 ? plane_coarse_group : octant;
            double work = 0.0;
            for (auto s = host_->first_sender[static_cast<std::size_t>(group)];
                 s < host_->first_sender[static_cast<std::size_t>(group) + 1]; ++s) {
                const double terms = host_->senders[static_cast<std::size_t>(s)].terms;
                work += 2.0 * terms * terms;
            }
            sum += sets * work * tree.octant_counts()[at];
        }
    return sum;
}

PlaneRuns PlaneFar::runs_of(const DeviceTree& tree, int sets) {
    PlaneRuns out;
    const int cells_a_tile = 8 / sets;
    std::int32_t first = 0;
    for (int level = 0; level < tree.levels(); ++level)
        for (int octant = 0; octant < plane_quadrants; ++octant) {
            const auto cells = tree.octant_counts()[static_cast<std::size_t>(8 * level + octant)];
            if (cells == 0) continue;
            const int group = level == 0 ? plane_coarse_group : octant;
            out.run[out.count++] = {out.tiles, first, cells, static_cast<std::int16_t>(level),
                                    static_cast<std::int16_t>(group)};
            out.tiles += (cells + cells_a_tile - 1) / cells_a_tile;
            first += cells;
        }
    return out;
}

void PlaneFar::run(const DeviceTree& tree, PlaneSets sets, Vec4<double>* sums, const Done& done,
                   cudaStream_t stream) {
    const int count = count_of(sets);
    const auto expansions = static_cast<std::size_t>(tree.cells()) * static_cast<std::size_t>(count);
    make_room(multipoles_, expansions * static_cast<std::size_t>(host_->columns()), expansions);
    make_room(locals_, expansions * static_cast<std::size_t>(host_->local_size), expansions);
    const PlaneFarView far{tree.view(), operators(), count, multipoles_.data(), locals_.data()};
    PlaneFormTask form{far, tree.sources().at.data(), tree.leaves(), tree.leaf_count()};
    form_plane_expansions(form, sets, false, stream);
    done("P2M", stream);
    for (int level = tree.levels() - 2; level >= 0; --level)
        gather_plane_expansions(far, tree.level_begin(level),
                                tree.level_begin(level + 1) - tree.level_begin(level), stream);
    done("M2M", stream);
    translate_plane_expansions(far, tree.by_octant(), runs_of(tree, count), stream);
    done("M2L", stream);
    if (tree.points().total > 0) {
        form.leaves = nullptr;
        form.count = tree.cells();
        form.first = tree.points().first;
        form.partners = tree.points().partners;
        form_plane_expansions(form, sets, true, stream);
        done("P2L", stream);
    }
    std::int32_t first = 0;
    for (int level = 0; level < tree.levels(); ++level) {
        std::int32_t cells = 0;
        for (int octant = 0; octant < 8; ++octant)
            cells += tree.octant_counts()[static_cast<std::size_t>(8 * level + octant)];
        if (level > 0) spread_plane_expansions(far, tree.by_octant() + first, cells, stream);
        first += cells;
    }
    done("L2L", stream);
    const bool listed = tree.multipoles().total > 0;
    evaluate_plane_expansions({far, tree.targets().at.data(), tree.leaves(), tree.leaf_count(),
                               listed ? tree.multipoles().first : nullptr, tree.multipoles().partners, sums},
                              stream);
    done("L2P", stream);
}

} // namespace farfield::cuda
