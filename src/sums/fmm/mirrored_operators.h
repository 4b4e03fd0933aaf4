// Translations for a GPU, all mirror images of an offset at once: sums of the senders'
// expansions with the signs of their images come first, and each sum takes the functions of one parity to
// those of one other (fmm/README.md). Functions are sorted by parity; within a parity they keep the order of
// their degrees, so that a graded order is a leading part. Made and tested on the host.
#pragma once

#include "sums/fmm/plain_operators.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace farfield {

constexpr int mirrored_columns = 8;        ///< of one step, at most
constexpr int up_group = coarse_group + 1; ///< of parents, whose children send

/// What all thread blocks do at a time: columns of eight sums, number u for rows of parity u ^ `parity`. Bits
/// of u on `axes` tell which sum of the mirror images along them it is, the others the parity of its columns.
struct alignas(16) MirroredStep {
    std::int64_t begin = 0;              ///< of the matrix for rows of parity 0
    std::int32_t numbers = 0;            ///< of the matrix for each parity
    std::int32_t offsets = 0;            ///< number of the class
    std::int16_t column[parities] = {};  ///< first one of each sum, as functions are sorted here
    std::uint8_t columns[parities] = {}; ///< of each sum; the others are 0
    std::uint8_t rows[parities] = {};    ///< of each parity
    std::uint8_t parity = 0, axes = 0, most_columns = 0; ///< the most of all sums
    std::uint8_t groups = 0;                             ///< of rows, the most of all parities
};

template <class T>
struct MirroredOperators {
    explicit MirroredOperators(const PlainOperators<T>& of);

    /// In double the matrices are for m16n8k4 of tensor cores: groups of 16 rows, lane 4g + t holds rows g
    /// and g + 8 of column t. In float four lanes share the rows: lane l has rows l, l + 4, … side by side.
    static constexpr bool for_tensor_cores = std::is_same_v<T, double>;
    static constexpr int rows_a_group = for_tensor_cores ? 16 : 4;

    std::vector<std::int32_t> functions;   ///< which stands here as functions are sorted; −1: none
    std::int32_t begin[parities + 1] = {}; ///< of each parity, in `functions`
    std::int32_t counts[parities] = {};    ///< of functions of each parity
    int classes = 0;                       ///< of offsets
    int levels = 0; ///< that have matrices of their own, the last for all that are deeper
    /// Where the mirror images of a class are sent from: [group][class][u], as Sender::place; −1: none.
    /// Groups are those of PlainOperators; for `up_group` the only class is 0.
    std::vector<std::int32_t> places;
    std::vector<MirroredStep> steps;
    /// Those of a class on a level begin here: [level][class], with one more number for the end. After the
    /// last level those from children to their parent follow.
    std::vector<std::int32_t> first_step;
    std::vector<T> matrices;

    [[nodiscard]] std::int32_t first(int level, int offsets) const {
        const int at = level * (classes + 1) + offsets;
        return first_step[static_cast<std::size_t>(at)];
    }
    /// In how many parts the classes of the coarsest level's targets take no longer than others' classes.
    [[nodiscard]] int coarse_parts() const;
    /// The most groups of rows of any parity.
    [[nodiscard]] int most_groups() const;
    /// Numbers of an expansion as it is sorted here.
    [[nodiscard]] int stride() const { return begin[parities]; }
    /// Where the entry of a row of a parity and a column of a step stands in `matrices`.
    [[nodiscard]] std::size_t at(const MirroredStep& step, int parity, int row, int column) const;

private:
    void sort_functions(const PlainOperators<T>& of);
    void list_places(const PlainOperators<T>& of);
    void add_steps(const PlainOperators<T>& of, int offsets, int axes,
                   const typename PlainOperators<T>::Matrix& matrix);
    void fill(const PlainOperators<T>& of, const typename PlainOperators<T>::Matrix& matrix,
              MirroredStep& step);
};

/// Functions of one parity that a GPU has room for.
constexpr int most_mirrored_rows(bool wide) { return wide ? 96 : 64; }
/// Of the parity that has most; known without the operators.
template <class T>
int mirrored_rows(const PlainOperators<T>& of);
/// The same of harmonics: those that are even along all axes.
constexpr int mirrored_harmonics(int order) { return (order / 2 + 1) * (order / 2 + 2) / 2; }

/// Whether such operators serve expansions like these, if they are short enough.
bool has_mirrored_operators(const FmmOrder& order);

extern template struct MirroredOperators<float>;
extern template struct MirroredOperators<double>;
extern template int mirrored_rows(const PlainOperators<float>&);
extern template int mirrored_rows(const PlainOperators<double>&);

} // namespace farfield
