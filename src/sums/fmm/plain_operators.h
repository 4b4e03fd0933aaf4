// The operators of expansions as the kernels of a GPU take them: plain matrices over functions in the order
// of their degrees (plain_functions.h), so that a graded order is a leading block. Made and tested on the
// host.
#pragma once

#include "sums/fmm/operators.h"
#include "sums/fmm/plain_functions.h"
#include "sums/fmm/softened.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace farfield {

/// From a sender to a target: a matrix, of which the mirror image along the axes in `mirror` counts.
struct Sender {
    std::int32_t matrix = 0;
    std::int32_t mirror = 0;
    /// Where the sender is. Across: 8·(slot of the parent's neighbour) + octant; on the coarsest level the
    /// offset, 256²·(z + 128) + 256·(y + 128) + x + 128. Up: the octant of the child. Down: of no use.
    std::int32_t place = 0;
};

constexpr std::int32_t coarse_sender_place(int x, int y, int z) {
    return ((z + 128) * 256 + (y + 128)) * 256 + x + 128;
}

constexpr int plain_padding = 16; ///< expansions take a multiple of so many numbers
constexpr int coarse_group = 8;   ///< of the targets on the coarsest level; 0 … 7: octants on the others

template <class T>
struct PlainOperators {
    /// Columns of `size` functions, each of `rows` numbers: the functions, padded to a multiple of four.
    struct Matrix {
        std::int64_t begin = 0; ///< in `matrices`
        std::int32_t size = 0;
        std::int32_t rows = 0;
    };

    /// Of harmonics.
    PlainOperators(const FmmOrder& of, int threads);
    /// Of polynomials, in the order of the classes that `made` has.
    PlainOperators(const FmmOrder& of, const FmmOperators<T>& made);

    FmmOrder order;
    int size = 0;   ///< functions
    int stride = 0; ///< numbers of an expansion
    std::vector<T> matrices;
    int classes = 0;            ///< of offsets
    std::vector<Matrix> across; ///< of each class; of polynomials for each level
    Matrix up, down;            ///< child 0 to its parent, and back
    /// What mirror image q does to function i: +1 or −1 at signs[q·stride + i].
    std::vector<T> signs;
    PlainFunctions<T> inside;  ///< of local expansions, and of multipole expansions as they are formed
    PlainFunctions<T> outside; ///< of harmonics at points beyond their cell, an order higher
    /// The same for second derivatives; outside by two orders.
    PlainFunctions<T> inside_second, outside_second;
    /// Those of group g (an octant, or coarse_group): [first_sender[g], first_sender[g + 1]).
    std::vector<Sender> senders;
    std::int32_t first_sender[coarse_group + 2] = {};

    [[nodiscard]] std::size_t bytes() const { return matrices.size() * sizeof(T); }
    /// Those of a level begin here in `across`.
    [[nodiscard]] int first_across(int level) const {
        return static_cast<std::size_t>(classes) == across.size() ? 0 : level * classes;
    }
    /// Multiply-adds of all translations to a cell of a level, a mean over octants.
    [[nodiscard]] double multiply_adds(int level) const;

private:
    void set_functions(const std::vector<int>& parities_of);
    void list_senders();
    Matrix add_matrix(int functions, const std::vector<T>& columns);
};

/// Made once for an order; the last few are kept.
template <class T>
std::shared_ptr<const PlainOperators<T>> plain_operators(const FmmOrder& order, int threads);

extern template std::shared_ptr<const PlainOperators<float>> plain_operators<float>(const FmmOrder&, int);
extern template std::shared_ptr<const PlainOperators<double>> plain_operators<double>(const FmmOrder&, int);

} // namespace farfield
