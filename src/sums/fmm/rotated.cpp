// M2L by rotation (expansions/rotated_offsets.h). Targets of one octant have senders at the same offsets: as
// many of them as the loop has lanes are served offset after offset, and their sums are added at the end.
#include "sums/fmm/passes.h"

#include "backend/threads/parallel.h"
#include "sums/direct/cpu/isa_function.h"

#include <algorithm>
#include <array>

namespace farfield {
namespace {

template <class T>
constexpr std::size_t batch_size = rotate_lanes(sizeof(T) == 8);

} // namespace

template <class T>
double FmmPasses<T>::rotated_work_of(int octant) const {
    const auto& offsets = operators_->rotated->offsets();
    double sum = 0.0;
    for (std::size_t n = 0; n < offsets.size(); ++n)
        if (senders_[static_cast<std::size_t>(octant) * offsets.size() + n] >= 0)
            sum += rotated_work(offsets[n].degree);
    return sum;
}

// Along the curve of cells, so that the targets of a batch lie near each other. On level 0 octants do not
// matter.
template <class T>
auto FmmPasses<T>::batches() const -> std::vector<Batch> {
    std::vector<Batch> out;
    for (int level = first_level_across(); level < std::min(levels_, tree_.levels()); ++level) {
        std::array<Batch, 8> filling;
        const auto close = [&](Batch& batch) {
            if (!batch.empty()) out.push_back(std::move(batch));
            batch.clear();
        };
        for (auto cell = tree_.level_begin(level); cell < tree_.level_begin(level + 1); ++cell) {
            if (!share_.receives(cell)) continue;
            auto& batch = filling[level == 0 ? 0 : static_cast<std::size_t>(tree_.cell(cell).octant())];
            batch.push_back(cell);
            if (batch.size() == batch_size<T>) close(batch);
        }
        for (auto& batch : filling) close(batch);
    }
    return out;
}

// The multipole expansions at an offset, zeros where there is none. False: there is none at all.
template <class T>
bool FmmPasses<T>::find_lanes(const Batch& targets, std::size_t offset,
                              const std::vector<Surroundings>& around,
                              std::vector<const void*>& sources) const {
    const auto& offsets = operators_->rotated->offsets();
    const auto& first = tree_.cell(targets.front());
    const auto place =
        first.level == 0 ? -1 : senders_[static_cast<std::size_t>(first.octant()) * offsets.size() + offset];
    if (first.level > 0 && place < 0) return false;
    const auto& d = offsets[offset].offset;
    bool any = false;
    for (std::size_t t = 0; t < targets.size(); ++t) {
        const auto& index = tree_.cell(targets[t]).index;
        const T* found =
            first.level > 0
                ? around[t][static_cast<std::size_t>(place)]
                : multipole_of(tree_.coarse_cell(index[0] - d[0], index[1] - d[1], index[2] - d[2]));
        any = any || found != nullptr;
        sources[t] = found != nullptr ? found : zeros_.data();
    }
    return any;
}

template <class T>
void FmmPasses<T>::translate_batch(const Batch& targets) {
    const auto& rotated = *operators_->rotated;
    std::vector<Surroundings> around(targets.size());
    for (std::size_t t = 0; t < targets.size(); ++t)
        if (const auto parent = tree_.cell(targets[t]).parent; parent != no_cell) surround(parent, around[t]);
    constexpr auto lanes = batch_size<T>;
    const auto size = static_cast<std::size_t>(operators_->size);
    std::vector<const void*> sources(lanes, zeros_.data());
    AlignedVector<T> sums(size * lanes, T(0));
    AlignedVector<T> scratch;
    for (std::size_t n = 0; n < rotated.offsets().size(); ++n) {
        if (!find_lanes(targets, n, around, sources)) continue;
        auto task = rotated.task(n);
        scratch.resize(static_cast<std::size_t>(rotate_scratch(task.size, task.degree, task.wide)));
        task.sources = sources.data();
        task.sums = sums.data();
        task.scratch = scratch.data();
        FF_ISA_FUNCTION(ff_rotate, isa_)(&task);
        done(rotated_work(task.degree) * static_cast<double>(targets.size()));
    }
    for (std::size_t t = 0; t < targets.size(); ++t) {
        T* const local = locals_.of(targets[t]);
        for (std::size_t place = 0; place < size; ++place) local[place] += sums[place * lanes + t];
    }
}

template <class T>
void FmmPasses<T>::translate_rotated() {
    const auto all = batches();
    parallel_for(threads_, static_cast<std::int64_t>(all.size()), [&](std::int64_t task) {
        if (!stopped()) translate_batch(all[static_cast<std::size_t>(task)]);
    });
}

template void FmmPasses<float>::translate_rotated();
template void FmmPasses<double>::translate_rotated();
template double FmmPasses<float>::rotated_work_of(int) const;
template double FmmPasses<double>::rotated_work_of(int) const;

} // namespace farfield
