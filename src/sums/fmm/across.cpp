// From cell to cell: multipole expansions become local expansions of cells of the same level that are not
// neighbours, although their parents are (M2L); points of larger leaves become local expansions of smaller
// cells beside them (P2L).
#include "sums/fmm/passes.h"

#include "backend/threads/parallel.h"
#include "sums/direct/cpu/isa_function.h"
#include "sums/fmm/point_scratch.h"

#include <algorithm>
#include <cstdlib>

namespace farfield {
namespace {

constexpr std::int32_t cells_a_task = 64;

} // namespace

template <class T>
std::int32_t FmmPasses<T>::sender_place(int octant, const std::array<int, 3>& offset) const {
    int parent[3];
    int source_octant = 0;
    for (int axis = 0; axis < 3; ++axis) {
        const int place = (octant >> axis & 1) + offset[static_cast<std::size_t>(axis)];
        parent[axis] = place >> 1;
        if (std::abs(parent[axis]) > tree_.shape().separation) return -1;
        source_octant |= (place & 1) << axis;
    }
    return 8 * tree_.neighbour_slot(parent[0], parent[1], parent[2]) + source_octant;
}

// Where to look for senders: the same for all targets of an octant.
template <class T>
void FmmPasses<T>::list_senders() {
    senders_.clear();
    for (int octant = 0; octant < 8; ++octant) {
        if (operators_->rotated) {
            for (const auto& [d, degree] : operators_->rotated->offsets())
                senders_.push_back(sender_place(octant, {-d[0], -d[1], -d[2]}));
            continue;
        }
        for (const auto& offsets : operators_->classes)
            for (int mirror = 0; mirror < parities; ++mirror)
                senders_.push_back((mirror & ~offsets.axes) != 0
                                       ? -1
                                       : sender_place(octant, source_offset(offsets, mirror)));
    }
}

template <class T>
const T* FmmPasses<T>::multipole_of(std::int32_t cell) const {
    const bool is_here = cell != no_cell && tree_.cell(cell).sources.size() > 0 && share_.has_multipole(cell);
    return is_here ? multipoles_.of(cell) : nullptr;
}

template <class T>
void FmmPasses<T>::surround(std::int32_t parent, Surroundings& out) const {
    const auto neighbours = tree_.neighbours(parent);
    out.resize(8 * neighbours.size());
    for (std::size_t slot = 0; slot < neighbours.size(); ++slot)
        for (std::size_t octant = 0; octant < 8; ++octant)
            out[8 * slot + octant] = neighbours[slot] == no_cell
                                         ? nullptr
                                         : multipole_of(tree_.cell(neighbours[slot]).children[octant]);
}

// The multipole expansions of the mirror images of a class.
template <class T>
void FmmPasses<T>::find_senders(std::int32_t target, std::size_t offset_class,
                                const Surroundings& surroundings, const void** out) const {
    const auto& cell = tree_.cell(target);
    const auto& classes = operators_->classes;
    if (cell.level > 0) {
        const auto* places =
            senders_.data() +
            (static_cast<std::size_t>(cell.octant()) * classes.size() + offset_class) * parities;
        for (int mirror = 0; mirror < parities; ++mirror)
            out[mirror] =
                places[mirror] < 0 ? nullptr : surroundings[static_cast<std::size_t>(places[mirror])];
        return;
    }
    for (int mirror = 0; mirror < parities; ++mirror) {
        const auto offset = source_offset(classes[offset_class], mirror);
        out[mirror] =
            (mirror & ~classes[offset_class].axes) != 0
                ? nullptr
                : multipole_of(tree_.coarse_cell(cell.index[0] + offset[0], cell.index[1] + offset[1],
                                                 cell.index[2] + offset[2]));
    }
}

template <class T>
void FmmPasses<T>::send(const Translation<T>& translation, const std::vector<const void*>& sources,
                        const std::vector<void*>& expansions, AlignedVector<T>& scratch) const {
    auto task = translation.task();
    scratch.resize(static_cast<std::size_t>(translate_scratch(task.size)));
    task.targets = static_cast<std::int64_t>(expansions.size());
    task.sources = sources.data();
    task.expansions = expansions.data();
    task.zeros = zeros_.data();
    task.scratch = scratch.data();
    FF_ISA_FUNCTION(ff_translate, isa_)(&task);
}

// All mirror images at once, or one after the other.
template <class T>
void FmmPasses<T>::send_class(std::size_t offset_class, const Translation<T>& translation,
                              const std::vector<const void*>& sources, const std::vector<void*>& expansions,
                              AlignedVector<T>& scratch) const {
    if (!operators_->one_by_one) return send(translation, sources, expansions, scratch);
    const int axes = operators_->classes[offset_class].axes;
    std::vector<const void*> alone;
    std::vector<void*> reached;
    for (std::size_t mirror = 0; mirror < parities; ++mirror) {
        if ((static_cast<int>(mirror) & ~axes) != 0) continue;
        alone.clear();
        reached.clear();
        for (std::size_t t = 0; t < expansions.size(); ++t) {
            if (sources[t * parities + mirror] == nullptr) continue;
            reached.push_back(expansions[t]);
            alone.resize(reached.size() * parities, nullptr);
            alone[alone.size() - parities + mirror] = sources[t * parities + mirror];
        }
        if (!reached.empty()) send(translation, alone, reached, scratch);
    }
}

template <class T>
void FmmPasses<T>::translate_block(std::span<const std::int32_t> targets) {
    if (targets.empty()) return;
    std::vector<std::size_t> parents; // for each target, its place in `around`
    std::vector<Surroundings> around;
    const int level = tree_.cell(targets.front()).level; // that of all
    if (level >= levels_ || level < first_level_across()) return;
    const auto& across = operators_->across_level(level);
    std::int32_t parent_before = no_cell;
    for (const auto cell : targets) {
        const auto parent = tree_.cell(cell).parent;
        if (around.empty() || parent != parent_before) {
            around.emplace_back();
            if (parent != no_cell) surround(parent, around.back());
        }
        parent_before = parent;
        parents.push_back(around.size() - 1);
    }
    std::vector<const void*> sources(targets.size() * parities);
    std::vector<void*> expansions;
    AlignedVector<T> scratch;
    for (std::size_t c = 0; c < operators_->classes.size(); ++c) {
        if (across[c].multiply_adds() == 0.0) continue;
        expansions.clear();
        for (std::size_t t = 0; t < targets.size(); ++t) {
            const auto out = sources.begin() + static_cast<std::ptrdiff_t>(expansions.size() * parities);
            find_senders(targets[t], c, around[parents[t]], &*out);
            if (std::any_of(out, out + parities, [](const void* found) { return found != nullptr; }))
                expansions.push_back(locals_.of(targets[t]));
        }
        if (expansions.empty()) continue;
        send_class(c, across[c], sources, expansions, scratch);
        done(across[c].multiply_adds() * static_cast<double>(expansions.size()));
    }
}

// Blocks of cells that lie near each other, on one level.
template <class T>
std::vector<std::int32_t> FmmPasses<T>::task_bounds() const {
    std::vector<std::int32_t> bounds{0};
    for (int level = 0; level < tree_.levels(); ++level)
        for (auto cell = tree_.level_begin(level); cell < tree_.level_begin(level + 1);
             cell = std::min(cell + cells_a_task, tree_.level_begin(level + 1)))
            bounds.push_back(std::min(cell + cells_a_task, tree_.level_begin(level + 1)));
    return bounds;
}

template <class T>
void FmmPasses<T>::translate() {
    locals_.reset(tree_.cells().size(), static_cast<std::size_t>(operators_->size), threads_,
                  [this](std::int32_t cell) { return share_.receives(cell); });
    const auto bounds = task_bounds();
    parallel_for(threads_, static_cast<std::int64_t>(bounds.size()) - 1, [&](std::int64_t task) {
        if (stopped()) return;
        const auto begin = bounds[static_cast<std::size_t>(task)];
        const auto end = bounds[static_cast<std::size_t>(task) + 1];
        const bool later = operators_->rotated || (block_senders_ && tree_.cell(begin).level > 0);
        if (!later) {
            std::vector<std::int32_t> targets;
            for (auto cell = begin; cell < end; ++cell)
                if (share_.receives(cell)) targets.push_back(cell);
            translate_block(targets);
        }
        add_points(begin, end);
    });
    if (images_ != nullptr) translate_images();
    if (operators_->rotated) translate_rotated();
    if (block_senders_) translate_in_groups();
}

template <class T>
void FmmPasses<T>::add_points(std::int32_t begin, std::int32_t end) {
    PointScratch points;
    for (auto cell = begin; cell < end; ++cell) {
        if (!share_.receives(cell)) continue;
        for (auto k = lists_.sources.first[static_cast<std::size_t>(cell)];
             k < lists_.sources.first[static_cast<std::size_t>(cell) + 1]; ++k)
            form(tree_.cell(cell), tree_.cell(lists_.sources.partners[static_cast<std::size_t>(k)]), true,
                 locals_.of(cell), points);
    }
}

template void FmmPasses<float>::list_senders();
template void FmmPasses<double>::list_senders();
template void FmmPasses<float>::surround(std::int32_t, Surroundings&) const;
template void FmmPasses<double>::surround(std::int32_t, Surroundings&) const;
template const float* FmmPasses<float>::multipole_of(std::int32_t) const;
template const double* FmmPasses<double>::multipole_of(std::int32_t) const;
template void FmmPasses<float>::send(const Translation<float>&, const std::vector<const void*>&,
                                     const std::vector<void*>&, AlignedVector<float>&) const;
template void FmmPasses<double>::send(const Translation<double>&, const std::vector<const void*>&,
                                      const std::vector<void*>&, AlignedVector<double>&) const;
template void FmmPasses<float>::translate_block(std::span<const std::int32_t>);
template void FmmPasses<double>::translate_block(std::span<const std::int32_t>);
template void FmmPasses<float>::translate();
template void FmmPasses<double>::translate();

} // namespace farfield
