#include "sums/treecode/evaluation.h"

#include "sums/direct/cpu/block_function.h"
#include "sums/direct/cpu/isa_function.h"
#include "sums/expansions/far_task.h"
#include "sums/expansions/local_task.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>

namespace farfield {

// Coordinates count from the middle of the group, so that their rounding is small beside distances.
template <class T>
void add_far(const TargetRows& targets, const SourceCells& cells, const TreecodeShape& shape,
             const TargetNode& group, const GroupInteractions& from, const BlockSumTask& task,
             FarScratch<T>& scratch) {
    if (from.cells.empty()) return;
    const auto count = static_cast<std::size_t>(group.targets.size());
    const auto begin = static_cast<std::size_t>(group.targets.begin);
    const auto padded = (count + far_lanes - 1) / far_lanes * far_lanes;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        auto& x = scratch.x[axis];
        x.resize(padded);
        const double* const at = targets[axis].data() + begin;
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

namespace {

/// The least power of two that is no less than the radius of a node's box.
double unit_of(const TargetNode& node, double otherwise) {
    double square = 0.0;
    for (const double half : node.half) square += half * half;
    if (!(square > 0.0)) return otherwise; // one target
    int exponent = 0;
    std::frexp(std::sqrt(square), &exponent);
    return std::ldexp(1.0, exponent);
}

std::size_t padded(std::size_t count) {
    constexpr auto lanes = static_cast<std::size_t>(local_lanes);
    return (count + lanes - 1) / lanes * lanes;
}

} // namespace

LocalExpansion LocalExpansion::about(const TargetNode& outer, const TargetNode& inner) const {
    LocalExpansion out{.empty = empty, .unit = unit_of(inner, unit)};
    if (empty) return out;
    double shift[3];
    for (int axis = 0; axis < 3; ++axis) shift[axis] = (inner.centre[axis] - outer.centre[axis]) / unit;
    shift_local(polynomial, shift, out.unit / unit, out.polynomial);
    return out;
}

template <class T>
void add_local(const SourceCells& cells, const TargetNode& node, const Interactions& from,
               const BlockSumTask& task, LocalExpansion& to, LocalScratch<T>& scratch) {
    if (from.local.empty()) return;
    const auto count = from.local.size();
    const auto most = padded(count);
    for (auto& d : scratch.d) d.resize(most);
    scratch.strengths.resize(most);
    if (to.empty) to.unit = unit_of(node, to.unit);
    for (std::size_t c = 0; c < count; ++c) {
        const auto number = from.local[c];
        const auto& cell = cells.cell(number);
        for (std::size_t axis = 0; axis < 3; ++axis)
            scratch.d[axis][c] = static_cast<T>(cell.centre[axis] - node.centre[axis]);
        scratch.strengths[c] = *static_cast<const T*>(cells.numbers(number));
    }
    for (auto c = count; c < most; ++c) {
        for (auto& d : scratch.d) d[c] = d[count - 1];
        scratch.strengths[c] = T(0);
    }
    double sums[local_sums] = {};
    const LocalSumsTask sum{.wide = std::is_same_v<T, double>,
                            .count = static_cast<std::int64_t>(most),
                            .d = {scratch.d[0].data(), scratch.d[1].data(), scratch.d[2].data()},
                            .strength = scratch.strengths.data(),
                            .softening2 = task.softening * task.softening,
                            .unit = to.unit,
                            .sums = sums};
    FF_ISA_FUNCTION(ff_local_sums, task.isa)(&sum);
    add_local_sums(sums, to.polynomial);
    to.empty = false;
}

template <class T>
void add_local_values(const TargetRows& targets, const TargetNode& group, const LocalExpansion& local,
                      const BlockSumTask& task, LocalScratch<T>& scratch) {
    if (local.empty) return;
    const auto count = static_cast<std::size_t>(group.targets.size());
    const auto begin = static_cast<std::size_t>(group.targets.begin);
    const double per_unit = 1.0 / local.unit;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        auto& s = scratch.d[axis];
        s.resize(padded(count));
        const double* const at = targets[axis].data() + begin;
        for (std::size_t i = 0; i < count; ++i)
            s[i] = static_cast<T>((at[i] - group.centre[axis]) * per_unit);
        std::fill(s.begin() + static_cast<std::ptrdiff_t>(count), s.end(), T(0));
    }
    T numbers[local_value_numbers];
    local_value_numbers_of(local.polynomial, local.unit, numbers);
    LocalValuesTask values{.wide = std::is_same_v<T, double>,
                           .potential = task.sums.potential != nullptr,
                           .numbers = numbers,
                           .targets = static_cast<std::int64_t>(count),
                           .s = {scratch.d[0].data(), scratch.d[1].data(), scratch.d[2].data()}};
    if (values.potential) values.potential_sums = task.sums.potential + begin;
    scratch.spare.resize(count);
    for (int axis = 0; axis < 3; ++axis)
        values.field_sums[axis] =
            task.sums.field[axis] != nullptr ? task.sums.field[axis] + begin : scratch.spare.data();
    FF_ISA_FUNCTION(ff_local_values, task.isa)(&values);
}

double add_near(const TargetNode& group, const GroupInteractions& from, bool self, const BlockSumTask& task) {
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

template void add_far<float>(const TargetRows&, const SourceCells&, const TreecodeShape&, const TargetNode&,
                             const GroupInteractions&, const BlockSumTask&, FarScratch<float>&);
template void add_far<double>(const TargetRows&, const SourceCells&, const TreecodeShape&, const TargetNode&,
                              const GroupInteractions&, const BlockSumTask&, FarScratch<double>&);

template void add_local<float>(const SourceCells&, const TargetNode&, const Interactions&,
                               const BlockSumTask&, LocalExpansion&, LocalScratch<float>&);
template void add_local<double>(const SourceCells&, const TargetNode&, const Interactions&,
                                const BlockSumTask&, LocalExpansion&, LocalScratch<double>&);
template void add_local_values<float>(const TargetRows&, const TargetNode&, const LocalExpansion&,
                                      const BlockSumTask&, LocalScratch<float>&);
template void add_local_values<double>(const TargetRows&, const TargetNode&, const LocalExpansion&,
                                       const BlockSumTask&, LocalScratch<double>&);
} // namespace farfield
