// The operators of expansions in the plane (expansions/laurent.h) as the kernels of a GPU take them. M2M, M2L
// and L2L are all D_out·matrix·D_in with a real matrix, which is cut into the pieces that tensor cores
// multiply, and complex diagonals of each sender. Made and tested on the host.
#pragma once

#include "sums/expansions/laurent.h"

#include <array>
#include <cstdint>
#include <vector>

namespace farfield {

/// A complex number as GPUs read it.
struct alignas(16) PlaneNumber {
    double re = 0.0, im = 0.0;
};

/// A cell whose expansion acts on another one.
struct PlaneSender {
    /// M2L: on the coarsest level the distance to the target, dx + 128 and dy + 128; on others the place of
    /// the parent's neighbour, (2·separation + 1)·y + x, and the quadrant of its child. M2M: the child's
    /// quadrant.
    std::int32_t place = 0, child = 0;
    std::int32_t terms = 0;    ///< of its graded order
    std::int32_t diagonal = 0; ///< row of `in` and `out`
    double log_distance = 0.0; ///< M2L: in widths of the cell
};

constexpr int plane_quadrants = 4;
constexpr int plane_coarse_group = plane_quadrants; ///< of targets on the coarsest level

/// The operators of one pass, each as one real matrix: rows and columns are the real and imaginary parts of
/// the two expansions, as they lie in memory. That takes more products than D_out·matrix·D_in, and nothing
/// else, which suits low orders. M2L: C has no imaginary part; its row gets Σ q, which the width of a level
/// still needs. L2L: C is one of the columns.
struct PlaneWhole {
    static constexpr int least_order = 4, most_order = 11; ///< that have them
    static constexpr int tiles = 2;                        ///< of rows
    static constexpr int least_steps = 4;
    /// M2L of so many terms takes the first steps alone, and of fewer the first tile of rows, too: C, Σ q and
    /// seven coefficients.
    static constexpr int short_terms = 8, short_steps = 4, terms_of_tile = 6;

    /// [diagonal][step][tile][lane][2] as in PlaneOperator::matrix; empty for other orders.
    std::vector<double> matrices;
    int steps = 0; ///< of a matrix

    /// Two steps take four complex numbers, the real parts and the imaginary ones; the last two, one step.
    static constexpr int steps_of(int numbers) {
        const int left = numbers % 4;
        const int steps = 2 * (numbers / 4) + (left == 0 ? 0 : left > 2 ? 2 : 1);
        return steps < least_steps ? least_steps : steps;
    }
    /// The column of a lane: 2k + part.
    [[nodiscard]] static constexpr int column(int steps, int step, int lane) {
        const int four = 8 * (step / 2), place = lane % 4;
        const bool alone = step % 2 == 0 && step + 1 == steps;
        return alone ? four + place : four + 2 * place + step % 2;
    }
};

/// The operators of one pass.
struct PlaneOperator {
    static constexpr int tile_rows = 16, step_columns = 4, lanes = 32;
    static constexpr int piece = 2 * lanes; ///< numbers of a tile and step

    /// [step][tile][lane][2]: rows lane/4 and lane/4 + 8 of the tile, column lane mod 4 of the step.
    std::vector<double> matrix;
    std::vector<PlaneNumber> in, out; ///< diagonals, of `columns` and of `rows` numbers
    std::vector<PlaneSender> senders;
    std::array<std::int32_t, plane_quadrants + 2>
        first_sender{}; ///< of the quadrants, then of `coarse_group`
    PlaneWhole whole;
};

/// A multipole expansion is `columns` complex numbers a_k, a local one `local_size` of them: C, then g_n. M2L
/// makes both of the products t^(−k) a_k: row 0 of its matrix is −1/k, row n + 1 is C(n + k, k). L2L has 1/(n
/// + 1) and C(n, m) there, and takes g_n, without C. M2M has C(k, l).
class PlaneTensorOperators {
public:
    explicit PlaneTensorOperators(const LaurentOrder& order);

    int order, separation;
    int row_tiles, column_steps, rows, columns;
    int local_size;
    PlaneOperator across, up, down;
    std::vector<double> reciprocals; ///< number n is 1/n, up to that of the expansions' integrals

private:
    /// @param at  at(row, column), 0 beyond its rows and columns
    template <class At>
    void set_matrix(PlaneOperator& of, const At& at) const;
    /// @param first  what goes before `shift.out`, if anything
    std::int32_t add_diagonals(PlaneOperator& of, const LaurentShift& shift, const PlaneNumber* first) const;
    /// @param at      as in `set_matrix`
    /// @param before  numbers of the expansion before those of the columns: C of a local one
    /// @param constant  row 0 is that of C
    template <class At>
    void set_whole(PlaneOperator& of, int before, bool constant, const At& at) const;
    void make_across(const LaurentOperators& operators, const LaurentOrder& order);
    void make_up(const LaurentOperators& operators);
    void make_down(const LaurentOperators& operators);
};

} // namespace farfield
