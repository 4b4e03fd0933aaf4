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
    const auto next = [&] { return static_cast<std::int32_t>(steps.size()); };
    levels = static_cast<int>(of.across.size() / offsets.size());
    for (std::size_t level = 0; level < static_cast<std::size_t>(levels); ++level) {
        for (std::size_t c = 0; c < offsets.size(); ++c) {
            first_step.push_back(next());
            add_steps(of, static_cast<int>(c), offsets[c].axes, of.across[level * offsets.size() + c]);
        }
        first_step.push_back(next());
    }
    first_step.push_back(next());
    add_steps(of, 0, parities - 1, of.up);
    first_step.resize(first_step.size() + offsets.size(), next());
}

template <class T>
void MirroredOperators<T>::sort_functions(const PlainOperators<T>& of) {
    for (int parity = 0; parity < parities; ++parity) {
        for (std::int32_t i = 0; i < of.size; ++i)
            if (parity_of(of, i) == parity) functions.push_back(i);
        counts[parity] = static_cast<std::int32_t>(functions.size()) - begin[parity];
        while (functions.size() % 4 != 0) functions.push_back(-1);
        begin[parity + 1] = static_cast<std::int32_t>(functions.size());
    }
}

template <class T>
void MirroredOperators<T>::list_places(const PlainOperators<T>& of) {
    const auto axes_of = offset_classes(of.order);
    const auto at = [&](int group, std::int32_t offsets, int u) -> std::int32_t& {
        return places[(static_cast<std::size_t>(group) * static_cast<std::size_t>(classes) +
                       static_cast<std::size_t>(offsets)) *
                          parities +
                      static_cast<std::size_t>(u)];
    };
    places.assign((up_group + std::size_t{1}) * static_cast<std::size_t>(classes) * parities, -1);
    for (int u = 0; u < parities; ++u) at(up_group, 0, u) = u;
    for (int group = 0; group < up_group; ++group)
        for (auto s = of.first_sender[group]; s < of.first_sender[group + 1]; ++s) {
            const auto& sender = of.senders[static_cast<std::size_t>(s)];
            const int axes = axes_of[static_cast<std::size_t>(sender.matrix)].axes;
            for (int u = 0; u < parities; ++u)
                if ((u & axes) == sender.mirror) at(group, sender.matrix, u) = sender.place;
        }
}

template <class T>
void MirroredOperators<T>::add_steps(const PlainOperators<T>& of, int offsets, int axes,
                                     const typename PlainOperators<T>::Matrix& matrix) {
    std::array<int, parities> used{}; // functions of each parity up to the degree of the class
    for (int parity = 0; parity < parities; ++parity) {
        const auto of_parity = functions.begin() + begin[parity];
        used[static_cast<std::size_t>(parity)] = static_cast<int>(
            std::lower_bound(of_parity, of_parity + counts[parity], matrix.size) - of_parity);
    }
    for (int parity = 0; parity < parities; ++parity) {
        if ((parity & ~axes) != 0) continue;
        for (int column = 0;; column += mirrored_columns) {
            MirroredStep step;
            step.offsets = offsets;
            step.parity = static_cast<std::uint8_t>(parity);
            step.axes = static_cast<std::uint8_t>(axes);
            for (std::size_t u = 0; u < parities; ++u) {
                const auto of_columns = static_cast<std::size_t>(parity | (static_cast<int>(u) & ~axes));
                const int left = std::clamp(used[of_columns] - column, 0, mirrored_columns);
                step.column[u] = static_cast<std::int16_t>(begin[of_columns] + column);
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
            const int column_place = step.column[sum] + k;
            const auto column = functions[static_cast<std::size_t>(column_place)];
            for (int i = 0; i < step.rows[static_cast<std::size_t>(parity)]; ++i) {
                const int row_place = begin[parity] + i;
                const auto row = functions[static_cast<std::size_t>(row_place)];
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
int MirroredOperators<T>::coarse_parts() const {
    const auto reached_by_octants = [&](int offsets) {
        for (int octant = 0; octant < coarse_group; ++octant) {
            const int at = (octant * classes + offsets) * parities;
            const auto* const begin_of = places.data() + at;
            if (std::any_of(begin_of, begin_of + parities, [](std::int32_t place) { return place >= 0; }))
                return true;
        }
        return false;
    };
    int usual = 0;
    for (int c = 0; c < classes; ++c)
        if (reached_by_octants(c)) usual += first(0, c + 1) - first(0, c);
    return usual == 0 ? 1 : 2 * first(0, classes) / usual;
}

template <class T>
int MirroredOperators<T>::most_groups() const {
    int most = 0;
    for (const auto& step : steps) most = std::max<int>(most, step.groups);
    return most;
}

template <class T>
int mirrored_rows(const PlainOperators<T>& of) {
    std::array<int, parities> counts{};
    for (std::int32_t i = 0; i < of.size; ++i) ++counts[static_cast<std::size_t>(parity_of(of, i))];
    return *std::max_element(counts.begin(), counts.end());
}

template struct MirroredOperators<float>;
template int mirrored_rows(const PlainOperators<float>&);
template int mirrored_rows(const PlainOperators<double>&);
template struct MirroredOperators<double>;

} // namespace farfield
