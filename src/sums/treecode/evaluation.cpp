#include "sums/treecode/evaluation.h"

#include "sums/direct/cpu/block_function.h"
#include "sums/direct/cpu/isa_function.h"
#include "sums/expansions/far_task.h"

#include <type_traits>

namespace farfield {

// Coordinates count from the middle of the group, so that their rounding is small beside distances.
template <class T>
void add_far(const Octree& tree, const SourceCells& cells, const TreecodeShape& shape,
             const TargetGroup& group, const Interactions& from, const BlockSumTask& task,
             FarScratch<T>& scratch) {
    if (from.cells.empty()) return;
    const auto count = static_cast<std::size_t>(group.targets.size());
    const auto begin = static_cast<std::size_t>(group.targets.begin);
    const auto padded = (count + far_lanes - 1) / far_lanes * far_lanes;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        auto& x = scratch.x[axis];
        x.resize(padded);
        const double* const at = tree.targets().x[axis].data() + begin;
        for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<T>(at[i] - group.centre[axis]);
        for (auto i = count; i < padded; ++i) x[i] = x[count - 1];
    }
    scratch.places.resize(4 * from.cells.size());
    scratch.numbers.resize(from.cells.size());
    for (std::size_t c = 0; c < from.cells.size(); ++c) {
        const auto number = from.cells[c];
        const auto& cell = cells.cell(number);
        for (std::size_t axis = 0; axis < 3; ++axis)
            scratch.places[4 * c + axis] = static_cast<T>(cell.centre[axis] - group.centre[axis]);
        scratch.places[4 * c + 3] = static_cast<T>(cells.unit(number));
        scratch.numbers[c] = cells.numbers(number);
    }
    FarTask far{.wide = std::is_same_v<T, double>,
                .order = shape.order == 1 && !cells.have_dipoles() ? 0 : shape.order,
                .potential = task.sums.potential != nullptr,
                .cells = static_cast<std::int64_t>(from.cells.size()),
                .places = scratch.places.data(),
                .numbers = scratch.numbers.data(),
                .targets = static_cast<std::int64_t>(count),
                .x = {scratch.x[0].data(), scratch.x[1].data(), scratch.x[2].data()},
                .softening2 = task.softening * task.softening};
    if (far.potential) far.potential_sums = task.sums.potential + begin;
    scratch.spare.resize(count);
    for (int axis = 0; axis < 3; ++axis)
        far.field_sums[axis] =
            task.sums.field[axis] != nullptr ? task.sums.field[axis] + begin : scratch.spare.data();
    FF_ISA_FUNCTION(ff_far, task.isa)(&far);
}

double add_near(const TargetGroup& group, const Interactions& from, bool self, const BlockSumTask& task) {
    if (from.near.empty()) return 0.0;
    const BlockTile tile{.targets = task.targets,
                         .sources = task.sources,
                         .block = group.targets,
                         .sources_of_block = from.near.data(),
                         .source_count = static_cast<std::int64_t>(from.near.size()),
                         .own = self,
                         .softening2 = task.softening * task.softening,
                         .sums = task.sums};
    block_function(task.loop, 0.0, task.isa)(task.precision, task.outputs, &tile);
    double sources = self ? -1.0 : 0.0;
    for (const auto& source : from.near) sources += source.range.size();
    return sources * group.targets.size();
}

template void add_far<float>(const Octree&, const SourceCells&, const TreecodeShape&, const TargetGroup&,
                             const Interactions&, const BlockSumTask&, FarScratch<float>&);
template void add_far<double>(const Octree&, const SourceCells&, const TreecodeShape&, const TargetGroup&,
                              const Interactions&, const BlockSumTask&, FarScratch<double>&);

} // namespace farfield
