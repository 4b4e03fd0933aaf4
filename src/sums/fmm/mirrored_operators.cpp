#include "sums/fmm/mirrored_operators.h"

#include <algorithm>
#include <array>

namespace farfield {
namespace {

template <class T>
int parity_of(const PlainOperators<T>& of, std::int32_t function) {
    int parity = 0;
    for (int axis = 0; axis < 3; ++axis) {
        const auto mirror = static_cast<std::size_t>(1) << axis;
        if (of.signs[mirror * static_cast<std::size_t>(of.stride) + static_cast<std::size_t>(function)] <
            T(0))
            parity |= 1 << axis;
    }
    return parity;
}

constexpr int groups_of(int rows, int rows_a_group) { return (rows + rows_a_group - 1) / rows_a_group; }

} // namespace

bool has_mirrored_operators(const FmmOrder& order) {
    return order.m2l == M2L::mirrored && order.separation == 1;
}

template <class T>
MirroredOperators<T>::MirroredOperators(const PlainOperators<T>& of) : classes(of.classes) {
    sort_functions(of);
    list_places(of);
    const auto offsets = offset_classes(of.order);
    const auto levels = of.across.size() / offsets.size();
    for (std::size_t level = 0; level < levels; ++level) {
        first_step.push_back(static_cast<std::int32_t>(steps.size()));
        for (int c = 0; c < classes; ++c)
            add_steps(of, c, offsets[static_cast<std::size_t>(c)].axes,
                      of.across[level * offsets.size() + static_cast<std::size_t>(c)]);
    }
    first_step.push_back(static_cast<std::int32_t>(steps.size()));
}

template <class T>
void MirroredOperators<T>::sort_functions(const PlainOperators<T>& of) {
    for (int parity = 0; parity < parities; ++parity) {
        for (std::int32_t i = 0; i < of.size; ++i)
            if (parity_of(of, i) == parity) functions.push_back(i);
        counts[parity] = static_cast<std::int32_t>(functions.size()) - first[parity];
        while (functions.size() % 4 != 0) functions.push_back(-1);
        first[parity + 1] = static_cast<std::int32_t>(functions.size());
    }
}

template <class T>
void MirroredOperators<T>::list_places(const PlainOperators<T>& of) {
    const auto axes_of = offset_classes(of.order);
    const auto at = [&](int octant, std::int32_t offsets, int u) -> std::int32_t& {
        return places[(static_cast<std::size_t>(octant) * static_cast<std::size_t>(classes) +
                       static_cast<std::size_t>(offsets)) *
                          parities +
                      static_cast<std::size_t>(u)];
    };
    places.assign(std::size_t{8} * static_cast<std::size_t>(classes) * parities, -1);
    for (int octant = 0; octant < 8; ++octant)
        for (auto s = of.first_sender[octant]; s < of.first_sender[octant + 1]; ++s) {
            const auto& sender = of.senders[static_cast<std::size_t>(s)];
            const int axes = axes_of[static_cast<std::size_t>(sender.matrix)].axes;
            for (int u = 0; u < parities; ++u)
                if ((u & axes) == sender.mirror) at(octant, sender.matrix, u) = sender.place;
        }
}

// The steps of one class of offsets, if senders of any octant are there.
template <class T>
void MirroredOperators<T>::add_steps(const PlainOperators<T>& of, int offsets, int axes,
                                     const typename PlainOperators<T>::Matrix& matrix) {
    const auto is_sent = [&](int octant) {
        const auto* const begin =
            places.data() + (static_cast<std::size_t>(octant) * static_cast<std::size_t>(classes) +
                             static_cast<std::size_t>(offsets)) *
                                parities;
        return std::any_of(begin, begin + parities, [](std::int32_t place) { return place >= 0; });
    };
    bool any = false;
    for (int octant = 0; octant < 8; ++octant) any = any || is_sent(octant);
    std::array<int, parities> used{}; // functions of each parity up to the degree of the class
    for (int parity = 0; parity < parities; ++parity) {
        const auto begin = functions.begin() + first[parity];
        used[static_cast<std::size_t>(parity)] =
            static_cast<int>(std::lower_bound(begin, begin + counts[parity], matrix.size) - begin);
    }
    const auto first_of_class = steps.size();
    for (int parity = 0; any && parity < parities; ++parity) {
        if ((parity & ~axes) != 0) continue;
        for (int column = 0;; column += mirrored_columns) {
            MirroredStep step;
            step.offsets = offsets;
            step.parity = static_cast<std::uint8_t>(parity);
            step.axes = static_cast<std::uint8_t>(axes);
            for (std::size_t u = 0; u < parities; ++u) {
                const auto of_columns = static_cast<std::size_t>(parity | (static_cast<int>(u) & ~axes));
                const int left = std::clamp(used[of_columns] - column, 0, mirrored_columns);
                step.column[u] = static_cast<std::int16_t>(first[of_columns] + column);
                step.columns[u] = static_cast<std::uint8_t>(left);
                step.most_columns = std::max(step.most_columns, step.columns[u]);
                step.rows[u] = static_cast<std::uint8_t>(used[u]);
                step.groups =
                    std::max(step.groups, static_cast<std::uint8_t>(groups_of(used[u], rows_a_group)));
            }
            if (step.most_columns == 0) break;
            fill(of, matrix, step);
            steps.push_back(step);
        }
    }
    for (auto s = first_of_class; s < steps.size(); ++s)
        steps[s].next = static_cast<std::int32_t>(steps.size());
}

template <class T>
void MirroredOperators<T>::fill(const PlainOperators<T>& of, const typename PlainOperators<T>::Matrix& matrix,
                                MirroredStep& step) {
    if constexpr (for_tensor_cores)
        step.numbers = 64 * step.groups * groups_of(step.most_columns, 4);
    else
        step.numbers = 4 * step.most_columns * (groups_of(step.groups, 4) * 4);
    step.begin = static_cast<std::int64_t>(matrices.size());
    matrices.resize(matrices.size() + static_cast<std::size_t>(step.numbers) * parities, T(0));
    for (int parity = 0; parity < parities; ++parity) {
        const auto sum = static_cast<std::size_t>(parity ^ step.parity);
        for (int k = 0; k < step.columns[sum]; ++k) {
            const auto column = functions[static_cast<std::size_t>(step.column[sum] + k)];
            for (int i = 0; i < step.rows[static_cast<std::size_t>(parity)]; ++i) {
                const auto row = functions[static_cast<std::size_t>(first[parity] + i)];
                matrices[at(step, parity, i, k)] = of.matrices[static_cast<std::size_t>(
                    matrix.begin + std::int64_t{column} * matrix.rows + row)];
            }
        }
    }
}

template <class T>
std::size_t MirroredOperators<T>::at(const MirroredStep& step, int parity, int row, int column) const {
    int within = 0;
    if constexpr (for_tensor_cores)
        within = ((column / 4 * step.groups + row / 16) * 32 + 4 * (row % 8) + column % 4) * 2 + row % 16 / 8;
    else
        within = (4 * column + row % 4) * (groups_of(step.groups, 4) * 4) + row / 4;
    return static_cast<std::size_t>(step.begin + std::int64_t{parity} * step.numbers + within);
}

template <class T>
int MirroredOperators<T>::most_groups() const {
    int most = 0;
    for (const auto& step : steps) most = std::max<int>(most, step.groups);
    return most;
}

template struct MirroredOperators<float>;
template struct MirroredOperators<double>;

} // namespace farfield
